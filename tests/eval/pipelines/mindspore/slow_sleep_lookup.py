import time

import mindspore.dataset as ds
import numpy as np


def add_one(x):
    return x + 1


def lookup(x):
    time.sleep(0.008)  # expect
    return x * 2


def to_float(x):
    return x.astype(np.float32)


def make():
    data = ds.NumpySlicesDataset(np.arange(60).reshape(30, 2), ["ids"])
    data = data.map(add_one, ["ids"], num_parallel_workers=1)
    data = data.map(lookup, ["ids"], num_parallel_workers=1)
    return data.map(to_float, ["ids"], num_parallel_workers=1)
