"""The number of epochs: what a validation curve says of it."""
