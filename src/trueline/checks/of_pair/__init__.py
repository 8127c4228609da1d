"""A script beside its benchmark's: what the one does and the other does not."""
