"""A normaliser is not what it promises when it is first used.

What it looks at
----------------
Weights under spectral norm (PyTorch's parametrization and its older hook), where their network is first called: the
largest singular value of the weight as it is used, for layers in evaluation mode.

Why it hurts
------------
Spectral norm divides by an estimate of the largest singular value, which is only brought nearer by calls in training
mode. After a new initialisation of the weights, or a checkpoint without the estimate, a network that is only evaluated
is not bounded at all: its layers amplify several times what was promised.

What to do
----------
Initialise the weights before `spectral_norm` is applied, load its vectors with the checkpoint, or call the network a
few times in training mode before it is evaluated.

When it is wrong
----------------
Where the bound does not matter.
"""
