"""The data is preprocessed in another way at inference than in training.

What it looks at
----------------
What enters the network in training and in evaluation of a recorded run: the range, mean and spread of samples, and
whether an evaluated sample is the same again in the next evaluation. Samples of one kind lie far from those of the
other where one side is not normalised, scaled by 255, or normalised with other numbers; and a sample that changes
from one evaluation to the next is augmented at random.

Why it hurts
------------
The network is asked about data of a kind that it has never seen: the training looks perfect and the accuracy is low.
A random augmentation at inference makes the accuracy lower, and another one each time.

What to do
----------
Use one function for both with a flag for training: the same sizes, the same mean and standard deviation; leave out
the random steps, and put the deterministic ones that belong to them in (a centre crop for a random crop).

When it is wrong
----------------
An evaluation set from another source differs by itself. Several random views of each sample that are averaged
(test-time augmentation) are meant.
"""
