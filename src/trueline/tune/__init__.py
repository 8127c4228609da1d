"""Settings found by experiments with the user's own training script."""
