"""The learning rate is too high or too low.

What it looks at
----------------
The loss of every training step of a recorded run, the learning rate, and how far each update carries the weights
relative to their norm. Too high: the loss leaves its beginning upward for good, or updates as large as the weights
themselves bring it nowhere. Too low: several passes over the data move the weights by less than a ten-thousandth, and
the loss with them.

Why it hurts
------------
Too high a rate jumps over every minimum, up to numbers that are not finite; too low a rate looks like a network that
cannot learn.

What to do
----------
Find the bounds with `trueline tune lr SCRIPT` (the rate at which the loss begins to fall, and the one at which it
stops to) and take a value between them, with a warm-up where the upper bound is needed.

When it is wrong
----------------
A loss may rise for other reasons: data that is not normalised, gradients that were not cleared, a loss that is not
what it should be. Trainings against each other (GANs) have losses that go up. A warm-up begins low on purpose.
"""

DECIDED_BY = "trueline tune lr SCRIPT"
# Training steps after which it is first asked: a loss swings before.
MIN_STEPS = 20
