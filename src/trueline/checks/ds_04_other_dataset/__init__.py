"""The dataset is not the same as the benchmark's.

What it looks at
----------------
The files that a recorded run has opened, with their hashes (`trueline run` with `--manifest`), against those of the
benchmark's run; how many samples the training sets have; and, where both runs were fed samples that can be told
apart, which of the benchmark's samples are missing, whether they have fewer digits, or are others altogether. Of two
datasets: their samples, fields and classes, and their files where they lie here.

Why it hurts
------------
Another version of the dataset, a download that broke off, or a file that was changed on one machine gives another
accuracy, whatever the network does: hours are spent looking for a fault that is not in the code.

What to do
----------
Copy the files anew and compare again: `trueline data manifest` writes a list with hashes, `trueline data diff`
compares two. In parallel training do so on every machine.

When it is wrong
----------------
A run that was ended early has opened fewer files. Samples that are augmented at random, or preprocessed otherwise,
cannot be compared one by one.
"""
