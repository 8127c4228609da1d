"""Stage 8: the same predictions into both metrics."""
