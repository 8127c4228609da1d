"""Which files a dataset has and what is in them, by their hashes; and how two such lists differ."""
