"""Tied weights came apart.

What it looks at
----------------
Parameters that were one tensor in one look and are two in a later one; an embedding and an output layer that start
from the very same numbers, are two tensors, and differ after the first updates; and a network that was asked to tie
its weights (`tie_weights=True`) and has none that are.

Why it hurts
------------
Tying is half of the parameters and a strong prior. Once apart, both copies are trained with half of the gradient
each, and a checkpoint that keeps one of them restores another network.

What to do
----------
Tie by assigning the parameter itself (`head.weight = embedding.weight`), after the last conversion or initialisation,
and not by copying values.

When it is wrong
----------------
Where an output layer is only initialised from the embedding, on purpose.
"""
