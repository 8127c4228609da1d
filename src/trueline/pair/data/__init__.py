"""Stage 0: the same raw samples through both pipelines."""
