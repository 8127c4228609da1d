"""Gradients of one update go into the next.

What it looks at
----------------
The gradients of a few parameters at the beginning of every backward pass of the first updates: are those of the
update before still there? And whether gradients are cleared after backward, before the optimizer has used them.

Why it hurts
------------
torch adds to what is there. Without `zero_grad` every update uses the sum of all gradients so far, which acts like a
momentum that never fades: the loss falls at first, then swings or diverges. Cleared too early, there is nothing to
learn from.

What to do
----------
Call `optimizer.zero_grad()` once per update: before backward, or right after the step. With accumulation, after the
step only.

When it is wrong
----------------
Where gradients of several updates are added up on purpose. MindSpore hands gradients out and keeps none, so the
question does not arise there.
"""
