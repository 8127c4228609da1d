"""The training has too many or too few epochs.

What it looks at
----------------
The validation loss of a recorded run, evaluation after evaluation. Past its minimum: it has been rising since its
best evaluation, by more than chance moves it. Still falling: the last evaluations have gained more than 2 %. At least
5 evaluations are needed to tell.

Why it hurts
------------
After the minimum the network learns its training set by heart and gets worse at everything else; before it, it could
still be better.

What to do
----------
Keep the weights of the best evaluation and stop there (early stopping), or train longer until the validation loss has
settled. `trueline tune epochs RUN` shows the curve.

When it is wrong
----------------
A short training to try something out is still falling on purpose. A metric other than the loss (an accuracy) may go
on getting better while the loss rises.
"""

# How the whole training went is known at its end.
ASKED_DURING_RUN = False
