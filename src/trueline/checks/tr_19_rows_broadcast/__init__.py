"""Rows are broadcast where they should correspond.

What it looks at
----------------
The operators of the first training and the first evaluation step, outside of the backward pass: one of them makes a
value for each pair of rows of the batch from operands of shapes like `[N]` and `[N, 1]`, and all of these values
become one number, such as a loss or a metric.

Why it hurts
------------
Every row is put together with every other one: what is learned is the mean over all targets, or a weight from other
samples. Nothing is reported, since the shapes fit by broadcasting.

What to do
----------
Give both operands the same shape: `value.squeeze(-1)`, or `target.unsqueeze(1)`; in MindSpore `value.squeeze(-1)` and
`target.expand_dims(1)`.

When it is wrong
----------------
Where all pairs are wanted. It is not said where both operands come from the same tensor, nor where the pairs meet a
mask, a target or a product of their own shape.
"""
