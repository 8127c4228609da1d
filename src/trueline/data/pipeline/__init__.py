"""A user's data pipeline run by itself: operator by operator, sample by sample, and two of them side by side."""
