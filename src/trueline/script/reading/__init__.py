"""Following a script as if it ran: values are what they may be, conditions that cannot be known go both ways."""
