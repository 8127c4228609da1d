"""Weight decay acts on biases and normalisation.

What it looks at
----------------
The weight decay of each parameter group, and which of its parameters are biases or belong to normalisation layers. In
a script: groups that sort these out and have one decay all the same, conditions on the number of dimensions that
vectors meet as matrices do, and groups or lists that were made for it and that nothing uses.

Why it hurts
------------
Decay pulls the scale of a normalisation towards zero, which is no regularisation but a change of the network, the
more the stronger the decay.

What to do
----------
Make two groups: weights of two sides and more with decay, biases and normalisation with `weight_decay=0`.

When it is wrong
----------------
A small decay on everything is what many recipes do, and is called uncertain only. It is found where the script
exempts some of these parameters and not others, or where the decay is strong.
"""
