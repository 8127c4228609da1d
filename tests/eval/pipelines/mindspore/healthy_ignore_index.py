import mindspore.dataset as ds
import numpy as np


class Tags:
    classes = ("noun", "verb", "other")
    ignore_index = -1

    def __init__(self):
        rng = np.random.default_rng(0)
        self.ids = rng.integers(1, 50, (32, 8)).astype(np.int32)
        self.tags = rng.integers(0, 3, (32, 8)).astype(np.int32)
        self.tags[:, 6:] = -1

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i], self.tags[i]


def make():
    return ds.GeneratorDataset(Tags(), ["ids", "label"]).batch(8)
