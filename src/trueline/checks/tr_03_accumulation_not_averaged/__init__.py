"""Accumulated gradients are not averaged.

What it looks at
----------------
Training with several backward passes per update, each on a batch of its own: is the loss, or the sum of gradients,
divided by their number?

Why it hurts
------------
The sum of n gradients is n times as long as their mean: the training runs with n times the learning rate. With more
accumulation it gets less stable instead of more.

What to do
----------
Divide the loss by the number of accumulated batches before backward, or the gradients before the update.

When it is wrong
----------------
Where the learning rate was chosen for the sum, or the loss is a sum over samples that is divided later.
"""
