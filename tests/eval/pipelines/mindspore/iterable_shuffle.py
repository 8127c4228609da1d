import mindspore.dataset as ds
import numpy as np


class Stream:
    def __iter__(self):
        for i in range(32):
            yield np.array([i, i + 1], np.float32), np.array(i % 2, np.int32)


def make():
    return ds.GeneratorDataset(Stream(), ["x", "y"], shuffle=True).batch(4)  # expect
