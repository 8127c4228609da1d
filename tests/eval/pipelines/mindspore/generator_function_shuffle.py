import mindspore.dataset as ds
import numpy as np


def lines():
    for i in range(24):
        yield (np.array(i, np.int32),)


def make():
    return ds.GeneratorDataset(source=lines, column_names=["n"], shuffle=True)  # expect
