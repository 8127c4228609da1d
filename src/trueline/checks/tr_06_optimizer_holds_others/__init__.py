"""The optimizer holds other parameters than the network that is trained.

What it looks at
----------------
The parameters that an optimizer holds, against those of the networks that are called: how many of them belong to no
network, and whether parameters of the same shapes in a network are held by no optimizer.

Why it hurts
------------
An optimizer built before the network was created again, loaded as a whole, or converted updates tensors that nobody
uses any more. The loss stays where it is.

What to do
----------
Build the optimizer after the last statement that creates, replaces or converts the network.

When it is wrong
----------------
Where tensors outside of any network are trained on purpose: then nothing of a network is left without an optimizer.
"""
