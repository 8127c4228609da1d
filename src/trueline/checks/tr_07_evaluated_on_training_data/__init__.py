"""The evaluation runs on training data.

What it looks at
----------------
The fingerprints of samples: how many of an evaluation's samples were trained on. Where several sets are evaluated,
one that is new to the network is enough.

Why it hurts
------------
The measured accuracy says how well the data is remembered. Overfitting stays unseen, and the best epoch is chosen by
the wrong number.

What to do
----------
Evaluate on data that is never trained on: split before training, and check the variable that the evaluation loops
over.

When it is wrong
----------------
Where only the training accuracy is measured on purpose, and where the data holds many equal samples.
"""
