"""The loss is cut off from the network.

What it looks at
----------------
The gradients that an optimizer is given: whether every one of them is missing or zero, in every update looked at.

Why it hurts
------------
A loss that went through `.item()`, `.detach()`, `asnumpy()` or an argmax has no way back to the weights. Training
runs, the loss is printed, and nothing is learned.

What to do
----------
Call backward on the tensor that the loss function returned. Take `.item()` and `.detach()` only for what is printed.

When it is wrong
----------------
Where gradients are exactly zero for good reasons in all updates that were looked at, for instance because all data is
masked at the start.
"""
