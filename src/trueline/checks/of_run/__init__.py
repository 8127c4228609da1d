"""What several checks read out of a recorded run."""
