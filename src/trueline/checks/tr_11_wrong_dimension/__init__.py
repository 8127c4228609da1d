"""A reduction runs over the samples instead of the classes.

What it looks at
----------------
Softmax, argmax, max and mean that are taken over the first dimension of what a network gives for a batch: in the
script, on a network's answer, or as the last thing a network does. Means over the first dimension inside a network
whose input comes from a loader as it is. And reductions that what is done with them contradicts: weights of attention
that are summed over the last dimension, probabilities of which one class is picked along the second, norms of the
gradients for a batch, divergences that are summed over the samples and averaged over the latents.

Why it hurts
------------
The first dimension of a batch is its samples. A softmax over it makes the samples compete with each other, an argmax
over it gives one sample per class instead of one class per sample, and a mean over it mixes samples that have nothing
to do with each other. The shapes often still fit, so nothing complains.

What to do
----------
Reduce over the last dimension, or over dimension 1: `softmax(logits, dim=1)`, `logits.argmax(1)`, `x.mean(dim=(2, 3))`;
in MindSpore the argument is called `axis`.

When it is wrong
----------------
Where the first dimension is not that of samples: time in recurrent networks without `batch_first`, the instances of a
bag, the members of an ensemble, a single sample without a batch.
"""
