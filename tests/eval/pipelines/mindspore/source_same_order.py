import random

import mindspore.dataset as ds
import numpy as np


class Shuffled:
    def __init__(self, n):
        self.ids = list(range(n))

    def __iter__(self):
        ids = list(self.ids)
        random.Random(42).shuffle(ids)  # expect
        for i in ids:
            yield np.array([i], np.float32), np.array(i % 2, np.int32)


def make():
    return ds.GeneratorDataset(Shuffled(30), ["x", "y"]).batch(5)
