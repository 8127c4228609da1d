import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, *ops):
        self.ops = ops

    def __call__(self, x):
        for op in self.ops:
            x = op(x)
        return x


class Scale:
    def __call__(self, x):
        return x.astype(np.float32) / 255


class MedianFilter:
    def __call__(self, x):
        out = x.copy()
        for r in range(1, x.shape[0] - 1):
            for c in range(1, x.shape[1] - 1):
                out[r, c] = sorted(x[r - 1 : r + 2, c - 1 : c + 2].ravel().tolist())[4]  # expect
        return out


class ToTensor:
    def __call__(self, x):
        return torch.from_numpy(x)[None]


class Scans(Dataset):
    def __init__(self, transform):
        self.raw = np.random.default_rng(7).integers(0, 256, (32, 48, 48), dtype=np.uint8)
        self.transform = transform

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, i):
        return self.transform(self.raw[i]), i % 2


def make():
    return DataLoader(Scans(Compose(Scale(), MedianFilter(), ToTensor())), batch_size=8)
