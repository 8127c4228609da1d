import mindspore.dataset as ds
import numpy as np


def shift(x):
    return x + np.float32(1)


def log_scale(x):
    with np.errstate(all="ignore"):
        return np.log(x)  # expect


def make():
    x = np.random.default_rng(1).random((40, 6), dtype=np.float32) * 10
    x[7, 2] = -4
    data = ds.NumpySlicesDataset({"x": x, "y": x.sum(1)}, shuffle=False)
    data = data.map(shift, input_columns="x").map(log_scale, input_columns="x")
    return data.batch(10)
