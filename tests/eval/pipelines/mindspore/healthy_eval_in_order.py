import mindspore.dataset as ds
import numpy as np


def data(n, shuffle):
    x = np.linspace(-1, 1, n, dtype=np.float32).reshape(n, 1)
    y = (x[:, 0] > 0).astype(np.int32)
    return ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=shuffle)


def make_eval():
    return data(20, False).batch(8)


def make():
    return data(48, True).batch(8)
