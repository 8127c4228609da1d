import mindspore.dataset as ds
import numpy as np


def split(x):
    return x[:2], x[2:]


def make():
    data = ds.NumpySlicesDataset({"x": np.arange(40, dtype=np.float32).reshape(10, 4)}, shuffle=False)
    return data.map(split, input_columns=["x"], output_columns=["left"])  # expect
