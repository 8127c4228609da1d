"""The training set is not shuffled.

What it looks at
----------------
The order of samples in the training batches of a recorded run: the sampler's indexes where they are seen, else the
fingerprints of the samples, pass after pass over the training set. The same order in two passes, an order that is
that of the dataset, and labels that come in long runs are problems.

Why it hurts
------------
Batches that are always the same, or of one class only, point every update the same way round: the network forgets
what came first, BatchNorm sees statistics of one class, and the result depends on how the files happen to lie.

What to do
----------
torch: `DataLoader(..., shuffle=True)`, or a sampler that shuffles; with a DistributedSampler also `set_epoch`.
MindSpore: `shuffle=True` at the dataset, or `.shuffle(n)` with n as large as the set, before `.batch`; a generator
without `__getitem__` cannot be shuffled otherwise.

When it is wrong
----------------
Series whose order is their meaning (a language model that reads on where it stopped) are not shuffled on purpose. A
set that fits into one batch has no order. A set that is shuffled once, and then has the same order in every pass, is
a suspicion only.
"""
