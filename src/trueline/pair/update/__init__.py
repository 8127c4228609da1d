"""Stage 6: the same gradients into both optimizers, and the learning rates of both."""
