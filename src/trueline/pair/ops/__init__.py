"""Two blocks operator by operator, put side by side by their values."""
