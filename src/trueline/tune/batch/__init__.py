"""Batch sizes: a ladder of them at a constant ratio of learning rate to batch."""
