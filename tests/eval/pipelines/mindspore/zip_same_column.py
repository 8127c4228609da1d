import mindspore.dataset as ds
import numpy as np


def make():
    left = ds.NumpySlicesDataset({"id": np.arange(10), "x": np.ones(10, np.float32)}, shuffle=False)
    right = ds.NumpySlicesDataset({"id": np.arange(10), "y": np.zeros(10, np.float32)}, shuffle=False)
    return ds.zip((left, right))  # expect
