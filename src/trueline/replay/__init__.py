"""A step of a recorded run done again in a process of its own, from the state that was kept."""
