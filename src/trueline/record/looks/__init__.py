"""What only the checks of a run ask for: looked at in the first steps, and then ever more rarely."""
