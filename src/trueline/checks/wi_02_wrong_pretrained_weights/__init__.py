"""Pretrained weights are not the ones meant, or were not loaded.

What it looks at
----------------
Every loading of weights into a network: how many names fit, which are missing or unexpected, whether they differ by a
prefix, and whether any value changed. With a reference file: whether the network starts from its values.

Why it hurts
------------
A checkpoint whose names do not fit is skipped without an error where loading is not strict: the network starts from
random numbers, and fine-tuning looks merely disappointing.

What to do
----------
Load strictly, and take away prefixes (`module.`, `backbone.`, `network.`) before. Look at the missing and unexpected
names that loading returns.

When it is wrong
----------------
Where only a small part of a file is wanted. A new head that is missing in the file is normal.
"""
