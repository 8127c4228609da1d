"""Weights are frozen that should learn.

What it looks at
----------------
Parameters that do not want a gradient and sit in the optimizer all the same; parameters that a gradient reaches and
that no optimizer holds; and modules whose output is used while no gradient comes back to them. Against a benchmark:
which parameters learn there and not here.

Why it hurts
------------
Frozen layers keep their random start. The rest of the network learns around them and stays below what it could reach.

What to do
----------
Set `requires_grad` for what should learn and give it to the optimizer; remove `detach`, `stop_gradient`, `asnumpy` or
`no_grad` from the way.

When it is wrong
----------------
Where a part is frozen on purpose. Such a part is left out of the optimizer, or has loaded weights: then nothing is
said, or it is called uncertain.
"""

# Said at the end of a run only: layers may be unfrozen after some epochs.
PROVISIONAL = ("cg_02.frozen",)
