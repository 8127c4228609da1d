"""Ranks train different networks.

What it looks at
----------------
The fingerprints of all trained parameters on every rank, after the first steps and ever more rarely after. Networks
that are divided among ranks are left out.

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
Where ranks hold different parts on purpose: pipeline or tensor parallel training that the framework's own types do
not show.
"""
