"""Which files a script opens while it is recorded: heard through Python, and below given folders from the system."""
