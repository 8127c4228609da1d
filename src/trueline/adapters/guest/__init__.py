"""The user's code in a process of its own: entry point, start, requests, termination, and what runs in it."""
