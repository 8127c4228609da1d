"""A call means something else in the other framework, and the port does not say what it wants.

What it looks at
----------------
Layers, losses and optimizers of a script and of the benchmark it was ported from, one beside the other in the order in
which they are built. Where torch and MindSpore have other defaults for the same argument, or mean something else
by the same number, and the port leaves the argument out, the values that are used are compared: bias and padding of
convolutions, strides of pools, eps of LayerNorm, momentum of BatchNorm, slopes, GELU's approximation, what Dropout
drops, reductions of losses, defaults of optimizers. The facts are those of torch 2.13 and MindSpore 2.10. In MindSpore
the release matters: since 2.0 Dropout takes p (its first argument still is the share that is kept), and since 2.1
Conv2d and Dense are initialised as torch's are; with older releases give them their initialisers.
Without a benchmark: settings that make sense by the other framework's convention only. A momentum of BatchNorm that
replaces nearly all of the statistics at every step, a Dropout that drops nearly everything, a divergence that is not
told its reduction, a recurrent layer without batch_first that gets batches, a loss of MindSpore that is not reduced.

Why it hurts
------------
Nothing crashes and the shapes fit: the port trains, and ends a little or a lot worse than its benchmark. Bisecting two
networks tensor by tensor finds it in hours; the argument list shows it at once.

What to do
----------
Write the argument down with the benchmark's value: `has_bias=True, pad_mode="pad", padding=1`, `stride=2`,
`epsilon=1e-5`, `p=0.1`. Or take the layer from mindspore.mint.nn, which has torch's arguments and defaults.

When it is wrong
----------------
The port wants something else than the benchmark, and does not write it down. Weights or statistics that are loaded
later may make a difference in the constructor void.
"""
