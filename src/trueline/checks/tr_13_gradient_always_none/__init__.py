"""Some parameters never get a gradient.

What it looks at
----------------
The gradients that the optimizer is given in the first updates and ever more rarely after: parameters that have none
in all of them. And modules with parameters that are called inside a network and not registered in it.

Why it hurts
------------
These parameters stay as they were drawn. A layer kept in a plain Python list, or created anew in every forward,
computes with random numbers that nobody trains, saves or moves to the device.

What to do
----------
Register layers: in `__init__`, in `nn.ModuleList` or `nn.CellList`. Use every parameter on the way to the loss, or
take it out of the optimizer.

When it is wrong
----------------
Where a branch is used only later in the training than the recording reaches.
"""
