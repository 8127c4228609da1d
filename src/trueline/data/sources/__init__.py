"""Where data come from, one file each."""
