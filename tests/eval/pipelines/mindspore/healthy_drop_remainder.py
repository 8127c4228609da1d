import mindspore.dataset as ds
import numpy as np


def make():
    x = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    data = ds.NumpySlicesDataset({"x": x, "y": np.arange(50) % 2}, shuffle=True)
    return data.batch(8, drop_remainder=True)
