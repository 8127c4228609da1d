"""Stage 1 and the initialisation: what both networks consist of, and what they begin with."""
