"""Reading training scripts without running them: files, names, values, and the order of what happens."""
