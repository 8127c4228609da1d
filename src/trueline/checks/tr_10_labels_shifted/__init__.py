"""Labels are shifted by one.

What it looks at
----------------
The labels against the number of the network's outputs: 1 to K for K outputs; a first class that never occurs while
all others do; labels of the evaluation that are those of the training plus or minus one. For sequences: targets that
are the very tokens that were put in. In a script also: labels that are taken from the row before or after that of
their inputs, and classes that are counted on in training and not in evaluation.

Why it hurts
------------
Labels that count from 1 have no output for the last class; frameworks that do not check this compute a loss of
something else. A language model that is asked for the token it was given learns to copy.

What to do
----------
Count classes from 0 everywhere; shift the targets of a language model by one: inputs `tokens[:, :-1]`, targets
`tokens[:, 1:]`.

When it is wrong
----------------
Where class 0 is kept for something that does not occur in the recorded data.
"""
