"""What a recorded run shows, read once for all checks that ask about it."""
