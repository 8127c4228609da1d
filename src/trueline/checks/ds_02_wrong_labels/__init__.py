"""Labels of the dataset are wrong.

What it looks at
----------------
In a dataset the label's type and range, labels that no class has, one-hot rows that do not sum to 1, and samples of
the same content with different labels. In a recorded run the labels of every batch: held against the number of scores
that the loss is given, against each other for samples of equal content, and one-hot rows against their sum. Against a
benchmark: the labels of samples that its run was fed as well.

Why it hurts
------------
A network learns what it is told: a wrong label pulls it the wrong way, and a label outside of the classes is either
an error or, on some devices, silently a loss that means nothing.

What to do
----------
Look at about 50 samples, at least one of each class, with `trueline data sheet`, and correct or drop the wrong ones.
Check the mapping from names to numbers: classes count from 0.

When it is wrong
----------------
Labels given by several people may differ on purpose for the same sample. A label that the loss leaves out (its
ignore_index) is none. Wrong labels that look like right ones are found by looking at samples only.
"""

DECIDED_BY = "trueline data sheet DATA"
