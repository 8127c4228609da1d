"""What several checks of a script ask."""
