import mindspore.dataset as ds
import numpy as np


def make():
    data = ds.NumpySlicesDataset({"x": np.ones((20, 2), np.float32), "y": np.arange(20) % 2})
    return data.batch(32, drop_remainder=True)  # expect
