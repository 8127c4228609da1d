import numpy as np
import torch
from torch.utils.data import Dataset


def clip(x):
    return np.clip(x, -50, 50)


def per_sample_scale(x):
    spread = x.max() - x.min()
    with np.errstate(all="ignore"):
        return x / spread  # expect


def to_tensor(x):
    return torch.as_tensor(x, dtype=torch.float32)


class Series(Dataset):
    def __init__(self, steps):
        rng = np.random.default_rng(2)
        self.rows = rng.normal(0, 3, (48, 16))
        self.rows[21] = 2.5
        self.steps = steps

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x = self.rows[i]
        for step in self.steps:
            x = step(x)
        return {"x": x, "y": torch.tensor(i % 3)}


def make():
    return Series([clip, per_sample_scale, to_tensor])
