"""Two live networks, each in a process of its own."""
