import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def to_float(x):
    return torch.from_numpy(x).float() / 255


class MapKey:
    def __init__(self, key, fn):
        self.key = key
        self.fn = fn

    def __call__(self, sample):
        sample[self.key] = self.fn(sample[self.key])  # expect
        return sample


class Pictures(Dataset):
    def __init__(self, transform):
        rng = np.random.default_rng(6)
        self.img = rng.integers(0, 256, (16, 6, 6), dtype=np.uint8)
        self.transform = transform

    def __len__(self):
        return 16

    def __getitem__(self, i):
        return self.transform({"img": self.img[i], "label": i % 2})


def make():
    return DataLoader(Pictures(MapKey("image", to_float)), batch_size=4)
