"""A few samples of a dataset to look at: drawn label by label, and shown as a sheet."""
