"""The definitions of a user's script, taken out of it without the work that it does when it is imported."""
