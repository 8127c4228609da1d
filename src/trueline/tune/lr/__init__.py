"""The learning rate: the range test, and the bounds that its curve shows."""
