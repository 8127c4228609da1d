"""Gradients are clipped while they are still scaled.

What it looks at
----------------
The order of events in training steps with a loss scale: unscaling must come before clipping.

Why it hurts
------------
A limit of 1.0 applied to gradients that are 65536 times too large cuts nearly everything: after the division by the
scale hardly anything of the gradient is left, and how much depends on the scale.

What to do
----------
Unscale, reduce, clip, step: in torch `scaler.unscale_(optimizer)` before `clip_grad_norm_`; in MindSpore
`loss_scaler.unscale(grads)` before `clip_by_global_norm`.

When it is wrong
----------------
Where the limit is multiplied by the scale on purpose.
"""
