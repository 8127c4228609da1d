import mindspore.dataset as ds
import numpy as np


class Again:
    def __init__(self, n):
        self.n = n
        self.at = 0

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        return np.array([self.at / self.n], np.float32), np.array(self.at % 2, np.int32)


def make():
    return ds.GeneratorDataset(Again(24), ["x", "y"]).shuffle(24).batch(6)
