"""Which APIs a project uses, and what becomes of each in the other framework."""
