"""Weights are shared that should not be, or not shared that should be.

What it looks at
----------------
Which parameters of several names are one tensor. By itself a run shows one sure slip: the same layer several times in
one list (`[layer] * n`). Against a benchmark: groups that are shared there and not here, or here and not there.

Why it hurts
------------
A stack of six layers that is one layer six times has a sixth of the parameters. Weights that should be tied and are
not have twice as many, and learn from half of the data each.

What to do
----------
Build layers in a loop or comprehension, or copy them; tie by assigning the parameter itself.

When it is wrong
----------------
Where one layer is meant to be applied several times, as ALBERT does. Such code calls one layer in a loop.
"""
