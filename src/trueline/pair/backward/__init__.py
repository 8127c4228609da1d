"""Gradients: where they stop, are scaled, or are not those of their forward."""
