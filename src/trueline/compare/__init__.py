"""Two of a kind to a verdict."""
