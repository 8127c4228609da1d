"""The loss scale is missing or not set right.

What it looks at
----------------
Training in float16: whether a loss scale was in force, how many steps it made the optimizer skip, what share of the
gradients was zero, and whether the optimizer divides by the same fixed scale that the loss was multiplied by.

Why it hurts
------------
float16 ends at 65504 and begins at 5.96e-8. Without a scale small gradients become zero; with one that is too high
steps are skipped; with two different ones every update is off by their ratio.

What to do
----------
Use a dynamic scale (GradScaler, DynamicLossScaler). With a fixed one and `drop_overflow_update=False` give the
optimizer the same `loss_scale`. bfloat16 needs none.

When it is wrong
----------------
Where a network is small and its gradients are large enough for float16 as they are.
"""
