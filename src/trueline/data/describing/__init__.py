"""What is in a dataset, and what of it looks wrong."""
