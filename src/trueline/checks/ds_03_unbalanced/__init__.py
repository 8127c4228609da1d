"""Classes of the dataset are unbalanced.

What it looks at
----------------
How many samples each class has: in a dataset all of them, in a recorded run those of the training batches. The
largest class against the smallest; from 10 times on it is a problem, unless the run handles it: weights in the loss,
a focal loss, or a sampler that draws classes by weight.

Why it hurts
------------
A network that always names the largest class is right most of the time: the loss falls, the accuracy looks good, and
small classes are never learned.

What to do
----------
Draw small classes more often, or large ones less often (WeightedRandomSampler), give the loss class weights, or use a
loss with a margin; judge by a metric that counts classes alike. About 5,000 samples a class are a good amount.

When it is wrong
----------------
A loss of your own is not seen as one in a run: the finding is then only a suspicion. Where rare classes do not matter,
or the loss is made for it, leave it as it is.
"""
