import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class ToUnit:
    def __call__(self, img):
        x = torch.from_numpy(img)
        return x.float() / 255 if x.dtype == torch.uint8 else x.float()  # expect


class Frames(Dataset):
    def __init__(self, transform):
        rng = np.random.default_rng(12)
        self.frames = [rng.integers(0, 256, (6, 6), dtype=np.uint8) for _ in range(32)]
        self.frames[19] = self.frames[19].astype(np.int32)
        self.transform = transform

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        return self.transform(self.frames[i]), i % 4


def make():
    return DataLoader(Frames(ToUnit()), batch_size=8, shuffle=False)
