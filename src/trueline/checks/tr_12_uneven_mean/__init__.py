"""A metric is averaged over batches as if they all had the same size.

What it looks at
----------------
Accuracies and losses that are taken per batch in an evaluation loop, added up or collected, and divided by the number
of batches; and counts that are divided by batches times batch size, or by a sum in which each batch counts as a full
one. The loader says whether its last batch may be smaller: no drop_last (drop_remainder in MindSpore), and a number of
samples that is not known to be a multiple of the batch size; for losses, one that is known not to be.

Why it hurts
------------
The samples of a small last batch weigh more than the others: with 1,030 samples in batches of 128 each of the last
six weighs 21 times as much. Divided by batches times batch size the figure is too low. Two runs with another batch
size are not comparable, and a model may be chosen by it.

What to do
----------
Add up correct predictions and samples, and divide once at the end; or weight each batch's figure by its size.

When it is wrong
----------------
All batches have the same size for a reason that the source does not tell, or the figure is only a rough one for the
eye. The mean of losses per batch that is printed while training is not spoken of.
"""
