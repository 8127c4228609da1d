import mindspore.dataset as ds
import numpy as np


class Once:
    def __init__(self, n):
        self.n = n
        self.at = 0

    def __iter__(self):
        return self  # expect

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        return np.array([self.at / self.n], np.float32), np.array(self.at % 2, np.int32)


def make():
    return ds.GeneratorDataset(Once(24), ["x", "y"]).batch(6)
