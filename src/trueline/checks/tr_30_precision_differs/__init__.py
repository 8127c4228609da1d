"""Layers of one step compute in different precision.

What it looks at
----------------
Linear and convolution layers that a network calls in another thread while it is itself called inside autocast: autocast
belongs to a thread, and does not reach them there.

Why it hurts
------------
A part of the network computes in float32 while the rest computes in half precision: it is slower and takes more memory
than planned, and what is compared with it, such as another branch of the same layers, is rounded differently.

What to do
----------
Enter autocast inside the function that the thread runs: `with torch.autocast(device, dtype=dtype): …`.

When it is wrong
----------------
Where the part is to compute in float32: `torch.autocast(device, enabled=False)` says so, and is not reported.
"""
