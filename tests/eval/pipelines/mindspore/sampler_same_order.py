import mindspore.dataset as ds
import numpy as np


class FixedShuffle(ds.Sampler):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def __iter__(self):
        order = np.random.default_rng(0).permutation(self.n)  # expect
        yield from order.tolist()


class Rows:
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return np.array([i, i], np.float32), np.array(i % 3, np.int32)


def make():
    return ds.GeneratorDataset(Rows(), ["x", "y"], sampler=FixedShuffle(24)).batch(4)
