"""The data is not normalised.

What it looks at
----------------
What enters the first layer with weights, in the first training step of a recorded run: its mean and its standard
deviation, and those of every feature. A mean beyond 3, a standard deviation beyond 10, or features whose scales are
more than 100 times apart are problems. Ids that are looked up, and inputs of a layer that normalises, are no such
numbers. With the script beside the run, the line of the pipeline is named that makes them so large or leaves them so.

Why it hurts
------------
Initial weights and learning rates are made for numbers around 0 with a spread of about 1. With pixels from 0 to 255
the first gradients are hundreds of times too large; where one feature is in thousands and another in thousandths, the
training sees only the first.

What to do
----------
Subtract the mean and divide by the standard deviation of the training set, feature by feature or channel by channel:
`transforms.Normalize`, `vision.Normalize`, a scaler for tables. Mind the factor of 255: decoded images are 0..255,
ToTensor makes 0..1 of them.

When it is wrong
----------------
Coordinates or counts may be meant to enter as they are. What a network scales by itself, before its first layer with
weights, is seen as it enters that layer.
"""
