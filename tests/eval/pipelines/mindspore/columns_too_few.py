import mindspore.dataset as ds
import numpy as np


def rows():
    for i in range(20):
        yield np.full(3, i, np.float32), np.array(i % 2, np.int32)


def make():
    data = ds.GeneratorDataset(rows, ["x"])  # expect
    return data.batch(5)
