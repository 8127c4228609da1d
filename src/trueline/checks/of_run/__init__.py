<<<<<<< HEAD
"""What a recorded run shows, read once for all checks that ask about it."""
=======
"""What several checks read out of a recorded run."""
>>>>>>> wt-runb
