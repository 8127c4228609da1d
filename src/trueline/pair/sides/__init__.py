"""A side: a user's model in a process of its own, what is asked of it and what it tells."""
