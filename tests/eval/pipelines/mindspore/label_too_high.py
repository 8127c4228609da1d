import mindspore.dataset as ds
import numpy as np


class Flowers:
    classes = ("daisy", "dandelion", "rose", "sunflower", "tulip")

    def __init__(self):
        self.x = np.random.default_rng(9).normal(size=(40, 10)).astype(np.float32)
        self.y = np.arange(40, dtype=np.int32) % 5
        self.y[29] = 5  # expect

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def make():
    return ds.GeneratorDataset(Flowers(), ["data", "label"]).batch(8)
