"""What ranks send one another does not match, or does not arrive.

What it looks at
----------------
Every collective and point-to-point call of a run of several ranks: whether all ranks of a group make the same calls in
the same order, with the same shapes and for the same parameter; whether the result is what went in (the sum of an
all-reduce, the parts of an all-gather, what was sent); and whether a result is waited for before weights are updated.

Why it hurts
------------
Where ranks call in another order, the gradient of one parameter is added to that of another. Where a buffer is used
before its handle is waited for, or written before it was sent, ranks train on what was there before. The loss still
falls.

What to do
----------
Make the calls in an order that is the same on all ranks (never sorted by values of one rank), wait for a handle before
its buffer is read or written, and give every transfer that runs on a buffer of its own.

When it is wrong
----------------
Where gradients are reduced late on purpose, and the update uses those of the step before.
"""
