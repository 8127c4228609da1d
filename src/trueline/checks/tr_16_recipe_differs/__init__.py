"""The training recipe is not the benchmark's.

What it looks at
----------------
Two scripts, of one framework or of two: the optimizer and its settings (momentum, Nesterov, betas, weight decay), how
gradients are clipped, and whether samples are augmented. Each is looked up by what it does, with the defaults of its
framework, and compared only where both scripts say it for sure.

Why it hurts
------------
A port whose network and loss are right still trains otherwise with another recipe: a beta1 left at 0.9 where a GAN
needs 0.5, plain momentum for Nesterov, a clipping that was left out, a flip that is missing. The loss falls all the
same, and the accuracy ends lower.

What to do
----------
Give the port the benchmark's value. Where a framework calls a setting otherwise or has another default, write it out.

When it is wrong
----------------
Where the recipe was changed on purpose, or where the port does the same by other means: a clipping written by hand, an
augmentation that was applied to the files beforehand.
"""
