"""The loss function is wrong.

What it looks at
----------------
What the framework's loss functions were called with in the first training steps, and what they gave: probabilities
where scores are expected, scores where logarithms are, shapes that are stretched to fit each other, targets out of
range. The loss is computed again in NumPy from the same numbers.

Why it hurts
------------
A softmax before a cross-entropy that has its own flattens the gradient: training is slow and stops early. A
prediction of shape (N, 1) against a target of shape (N) is compared with every target at once.

What to do
----------
Give cross-entropy and BCE-with-logits the raw scores, NLLLoss logarithms of probabilities, and prediction and target
of one shape.

When it is wrong
----------------
Where probabilities are meant to be treated as scores. Of a loss of the script's own only differences are judged: a
column against a row, or a mean of what is neither squared nor made positive.
"""
