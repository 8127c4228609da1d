"""What several items read out of runs and datasets."""
