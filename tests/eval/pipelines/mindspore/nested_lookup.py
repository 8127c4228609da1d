import mindspore.dataset as ds
import mindspore.dataset.transforms as T
import numpy as np


class Invert:
    def __call__(self, x):
        return 256 - x


class Lookup:
    def __init__(self):
        self.table = np.minimum(np.arange(256), 255 - np.arange(256)).astype(np.float32)

    def __call__(self, x):
        return self.table[x]  # expect


class Slides:
    def __init__(self):
        self.x = np.random.default_rng(15).integers(1, 256, (20, 4, 4))
        self.x[10, 2, 2] = 0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], np.array(i, np.int32)


def make():
    data = ds.GeneratorDataset(Slides(), ["x", "id"], shuffle=False)
    inner = T.Compose([Invert(), Lookup()])
    return data.map(T.Compose([np.ascontiguousarray, inner]), ["x"]).batch(5)
