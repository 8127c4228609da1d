"""Dropout or batch normalisation acts in an evaluation.

What it looks at
----------------
A network that is in evaluation mode: dropout functions that drop all the same, layers inside that are still in
training mode, running statistics that move during an evaluation step, and normalisation that always takes the batch's
statistics.

Why it hurts
------------
The measured accuracy is noisy and too low, depends on what else is in the batch, and statistics are spoiled by
validation data.

What to do
----------
Pass `training=self.training` to dropout functions, use the layers instead, and leave the running statistics of batch
normalisation on (`track_running_stats`, `use_batch_statistics=None`).

When it is wrong
----------------
Monte Carlo dropout and batch normalisation by the batch's own statistics can be on purpose.
"""
