"""A Report as one HTML page that needs nothing else."""
