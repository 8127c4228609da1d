import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class FillGaps:
    def __call__(self, x):
        return np.where(np.isnan(x), np.nanmean(x), x)


class ToTensor:
    def __call__(self, x):
        return torch.from_numpy(x.astype(np.float32))


class Readings(Dataset):
    def __init__(self):
        self.x = np.random.default_rng(2).normal(0, 1, (30, 8))
        self.x[4, 1] = self.x[11, 5] = np.nan
        self.transform = [FillGaps(), ToTensor()]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        for t in self.transform:
            x = t(x)
        return x, i % 2


def make():
    return DataLoader(Readings(), batch_size=6, shuffle=True)
