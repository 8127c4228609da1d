"""Weights start from zero, or all alike.

What it looks at
----------------
Every weight before the first update: zeros only, one constant, or equal rows. Biases, the weights of normalisation,
low-rank adapters, and layers that begin with zeros on purpose and leave it after the first updates are excused. With
several ranks: whether all start from the same weights.

Why it hurts
------------
From zero weights nothing comes out and no gradient goes back; units that start alike stay alike and learn the same.
Ranks that start apart train different networks.

What to do
----------
Use an initializer that draws numbers. Broadcast the weights of rank 0, or use the same seed on every rank.

When it is wrong
----------------
Where a layer of zeros is the end of a residual branch and needs more updates than were recorded to leave zero.
"""
