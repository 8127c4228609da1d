"""A script run several times: is it the same each time, and if not, which randomness is free."""
