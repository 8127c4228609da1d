"""The batch is too large.

What it looks at
----------------
How many samples one update sees in a recorded run, over all devices and accumulated batches, against the size of the
training set: beyond 256 samples with fewer than 10 updates in a pass over the set is a problem, and so is a set of more
than 64 samples that is one batch. Against a benchmark: a larger batch than the benchmark's with a learning rate that
was not scaled with it.

Why it hurts
------------
A large batch makes few updates with little noise: the training takes more epochs, and often ends at a result that is
worse on data it has not seen. With the learning rate of a small batch it also moves too little.

What to do
----------
32 is safe; 64, 128 and 256 are worth trying. Keep learning rate / batch constant, on the batch of all devices
together, and warm up. `trueline tune batch SCRIPT` finds the largest size that costs no accuracy.

When it is wrong
----------------
Trainings that need the whole set at once (graphs, second-order methods) have one batch on purpose. Adaptive
optimizers may be scaled with the root of the batch.
"""

DECIDED_BY = "trueline tune batch SCRIPT"
# How many updates a pass has is known when the training has ended.
ASKED_DURING_RUN = False
