"""Numbers overflow in training.

What it looks at
----------------
The loss and the norm of gradients of every step and, where statistics were recorded, the first tensor in the order
of execution with a number that is not finite; in a recording of `trueline watch`, the operator that it has found. A
step that a loss scaler skips is no problem as long as the training goes on. In a script: logarithms, roots, divisions
and exponents on the way to the loss that nothing keeps from where they are not finite. Given both, the one of them
that most likely did it is named.

Why it hurts
------------
From the first NaN on nothing is learned: it spreads through the weights in one update.

What to do
----------
Run `trueline watch` for the operator and the line. In half precision use a loss scale and compute that operator in
float32; else look for a division by zero, a logarithm of zero, or a rate that is too high.

When it is wrong
----------------
Where a loss is infinite on purpose, for instance for a masked sample, and is dropped later.
"""
