"""A very small language model over a toy grammar."""
