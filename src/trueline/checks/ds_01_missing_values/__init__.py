"""The dataset has values that are missing: NaN, infinite numbers, or markers that stand for nothing.

What it looks at
----------------
In a dataset every field: NaN, +Inf, -Inf, null, empty texts, and values that stand for nothing (those you name, and
guesses such as -1, 999 or "?"). In a recorded run every batch that was fed: samples with numbers that are not finite,
and with 999 and its like far away from all other numbers, where the network is given them.

Why it hurts
------------
One NaN in one sample makes the loss NaN, its gradients NaN, and then every weight: the training is over. A marker
such as 999 is worse, because nothing stops: the network learns from a number that means nothing.

What to do
----------
Drop these samples, fill the values in (the mean, the median, the neighbour's), or make "missing" a category of its
own. Do it in the dataset, once, and the same way for training and for inference.

When it is wrong
----------------
Masks may hold -Inf on purpose, and a network may take NaN for "unknown" and replace it itself: if the loss stays
finite the finding is only a suspicion. A guessed marker may be a value like any other.
"""
