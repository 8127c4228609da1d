"""A script with an experiment in it, from within its process."""
