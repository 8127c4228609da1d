"""Gradients are not clipped as the script asks for.

What it looks at
----------------
Every call that clips gradients, between the backward pass and the update: how many gradients it was given, the norm it
measured, and the gradients that the optimizer then applied.

Why it hurts
------------
A clip that is given an exhausted generator, other parameters, or runs before the backward pass or after the update
limits nothing: one bad batch can throw the training, and the rate was chosen with the clip in mind.

What to do
----------
Clip between the last backward pass and the update, the parameters of the optimizer (a list, not a generator that was
used before), and apply what the function returns where it does not work in place.

When it is wrong
----------------
Where clipping is called for its norm alone, with a limit that is never meant to act; an infinite limit is left out.
"""
