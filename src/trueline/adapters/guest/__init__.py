"""A user's code in a process of its own: how it is named, started, asked and ended, and what runs at its end."""
