import mindspore.dataset as ds
import numpy as np


def double(x):
    return x * 2


def add_one(x):
    return x + 1


def make():
    data = ds.NumpySlicesDataset(np.arange(12, dtype=np.float32), column_names=["x"], shuffle=False)
    data = data.map(add_one, ["x"]).rename("x", "data")
    return data.map(double, input_columns=["x"])  # expect
