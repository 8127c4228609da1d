import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Named(Dataset):
    def __init__(self):
        self.names = np.array([f"file_{i}" for i in range(10)])

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        return {"name": self.names[i : i + 1], "x": torch.tensor([i / 10])}  # expect


def make():
    return DataLoader(Named(), batch_size=2)
