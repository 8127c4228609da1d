"""An update does not do what its optimizer should.

What it looks at
----------------
The first updates of every optimizer, in a few elements: weights before, gradients, weights after, recomputed with the
optimizer's formula. Whether each update has gradients of its own, whether an optimizer with a memory lives longer than
one update, and whether weights it has trained are drawn anew while it goes on.

Why it hurts
------------
A step counter that stands still, a gradient that is applied twice or an optimizer that is built for every update make
another optimizer than the one that the rate and the schedule were chosen for. The loss still falls, to a worse value.

What to do
----------
Build the optimizer once, count its updates, and call its step once after each backward pass. Initialise weights before
training; a restart takes a new optimizer too.

When it is wrong
----------------
Where an optimizer's step is changed on purpose under its usual name, or layers are drawn anew as part of the method.
"""
