import mindspore.dataset as ds
import numpy as np


class TrimBlank:
    def __call__(self, x):
        return x[:, np.abs(x).sum(0) > 0]  # expect


class Normalise:
    def __call__(self, x):
        return (x - np.float32(0.5)) / np.float32(0.5)


class Digits:
    def __init__(self):
        self.x = np.random.default_rng(8).random((30, 8, 8), dtype=np.float32) + np.float32(0.01)
        self.x[22, :, 5:] = 0

    def __getitem__(self, i):
        return self.x[i], np.array(i % 10, np.int32)

    def __len__(self):
        return 30


def make():
    return ds.GeneratorDataset(Digits(), ["x", "y"], shuffle=False).map([TrimBlank(), Normalise()], ["x"])
