"""Nodes of the network are wrongly connected.

What it looks at
----------------
The calls of the first training step: layers with trained parameters that are never called, and layers whose output
nothing on the way to the loss takes. Against a benchmark: layers that are called, or fed, otherwise there.

Why it hurts
------------
A layer that is left out does not learn; a line that takes the wrong variable skips everything in between. The network
trains, with less than it was designed with.

What to do
----------
Follow the variables through forward from the layer that is named: is its output the next one's input?

When it is wrong
----------------
Where a layer is meant for a later part of the training, or for inference only.
"""
