import mindspore.dataset as ds
import numpy as np


def pad_batch(counts, info):
    mean = [np.array(sum(range(n)) // int(n), np.int32) for n in counts]  # expect
    return (mean,)


def make():
    counts = np.arange(32) % 3 + 1
    counts[27] = 0
    data = ds.NumpySlicesDataset({"count": counts}, shuffle=False)
    return data.batch(8, per_batch_map=pad_batch, input_columns=["count"], num_parallel_workers=1)
