"""Every data worker draws the same random numbers.

What it looks at
----------------
The random generators of each worker process of a loader, Python's, NumPy's, torch's and those that the dataset holds:
where each begins, and whether the first batch drew from it.

Why it hurts
------------
Workers that begin alike augment alike: with four workers every crop, flip and noise is used four times in a row, and
often again in every epoch. The data is less varied than it looks.

What to do
----------
Seed by worker: `worker_init_fn` with `torch.initial_seed()`, or a generator that is built in the worker from
`get_worker_info().seed`. Do not keep a seeded generator in the dataset, since every worker gets a copy of it.

When it is wrong
----------------
Where all workers are meant to draw the same, for instance one mask for all samples.
"""
