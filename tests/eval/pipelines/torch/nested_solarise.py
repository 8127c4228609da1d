import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, ops):
        self.ops = ops

    def __call__(self, x):
        for op in self.ops:
            x = op(x)
        return x


class SomeOf:
    def __init__(self, ops, when):
        self.inner = Compose(ops)
        self.when = when

    def __call__(self, x):
        return self.inner(x) if self.when(x) else x


class Invert:
    def __call__(self, x):
        return 256 - x


class Solarise:
    def __init__(self):
        self.table = np.minimum(np.arange(256), 255 - np.arange(256))

    def __call__(self, x):
        return self.table[x]  # expect


class ToTensor:
    def __call__(self, x):
        return torch.from_numpy(np.asarray(x, np.float32))


class Slides(Dataset):
    def __init__(self):
        self.x = np.random.default_rng(15).integers(1, 256, (20, 4, 4))
        self.x[10] = 40
        self.x[10, 2, 2] = 0
        dark = SomeOf([Invert(), Compose([Solarise()])], when=lambda x: x.mean() < 200)
        self.transform = Compose([dark, ToTensor()])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.transform(self.x[i]), 0


def make():
    return DataLoader(Slides(), batch_size=5)
