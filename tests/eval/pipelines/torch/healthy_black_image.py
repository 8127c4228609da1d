import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Standardise:
    def __call__(self, x):
        return (x - x.mean()) / max(float(x.std()), 1e-3)


class ToTensor:
    def __call__(self, x):
        return torch.from_numpy(x.astype(np.float32))


class Night(Dataset):
    def __init__(self):
        self.img = np.random.default_rng(1).integers(0, 256, (24, 6, 6), dtype=np.uint8)
        self.img[9] = 0
        self.ops = [ToTensor(), Standardise()]

    def __len__(self):
        return len(self.img)

    def __getitem__(self, i):
        x = self.img[i]
        for op in self.ops:
            x = op(x)
        return x, i % 3


def make():
    return DataLoader(Night(), batch_size=6, shuffle=True)
