"""A gradient penalty is computed from scaled gradients.

What it looks at
----------------
Gradients that are taken with a graph of their own and go into the loss: whether they are of a loss that was
multiplied by the loss scale, and whether they are divided by it before they are squared or measured.

Why it hurts
------------
The penalty grows with the square of the scale: at 65536 it is four billion times too strong, and changes whenever the
scale does.

What to do
----------
Take the penalty's gradients of the unscaled loss, or divide them by `scaler.get_scale()` first; then scale the whole
loss.

When it is wrong
----------------
Where the penalty's weight is divided by the square of the scale elsewhere.
"""
