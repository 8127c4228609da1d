"""The training set is divided wrongly between processes.

What it looks at
----------------
The samples that each process of a recorded run was fed in its first pass over the training set: whether two of them
were fed the same, whether some were fed to none, and whether all have the same number of batches; and, of a
DistributedSampler, whether its order is another one in every pass. In a script: samplers and shards that are missing
or written down, files in no order, parts whose bounds overlap, and streams that every worker of a loader reads whole.

Why it hurts
------------
Where every process goes through the whole set, a job on 8 devices does the work of one, and its averages are wrong;
where parts overlap or are left out, the network learns from another set than you think. With parts of different
sizes, one process waits for the others for ever.

What to do
----------
torch: `DistributedSampler` for every process, and `sampler.set_epoch(epoch)` before every pass. MindSpore:
`num_shards` and `shard_id` at the dataset. Sort lists of files before they are divided: their order is another one on
every machine.

When it is wrong
----------------
Processes that share a model (pipeline or tensor parallel) are fed the same on purpose. A sampler that draws with
replacement gives some samples to several.
"""
