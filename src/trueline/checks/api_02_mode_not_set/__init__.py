"""The network is in the wrong mode.

What it looks at
----------------
The mode of the network, and of its dropout and normalisation layers, whenever it is called: training steps in
evaluation mode, evaluation steps in training mode.

Why it hurts
------------
In evaluation mode dropout does nothing and batch normalisation uses its running statistics, so training misses what
it was designed with. In training mode an evaluation is noisy, depends on the batch, and changes the running
statistics.

What to do
----------
torch: `net.train()` before each training epoch, `net.eval()` before each evaluation. MindSpore: `net.set_train(True)`
and `net.set_train(False)`; a Cell starts in evaluation mode.

When it is wrong
----------------
Where the mode is chosen on purpose: Monte Carlo dropout, or batch normalisation that is calibrated by passes without
updates.
"""
