"""What a side can be asked for, and what it answers: all that crosses the border to its process, as types."""
