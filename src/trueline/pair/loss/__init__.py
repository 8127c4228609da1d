"""Stage 4: the same outputs and labels into both losses."""
