"""Ranks train different networks.

What it looks at
----------------
The weights of every rank after every update (of a large network a part each time), and the norms of the gradients that
are applied: at which step weights that ranks hold in common are no longer equal, on which rank, and whether their
gradients already differed. Parts that ranks hold of a divided network are left out, and so are experts, embeddings and
heads of their own: what began differently, was neither broadcast nor equal after an update, or is equal again later.

Why it hurts
------------
Where gradients are not averaged over ranks, each rank trains a network of its own on its part of the data, and one of
them is saved.

What to do
----------
Wrap the network (`DistributedDataParallel`, a gradient reducer), start all ranks from the same weights, and give
every rank the same number of steps.

When it is wrong
----------------
Where a part that is each rank's own begins with the same values on all ranks: it is suspected only.
"""
