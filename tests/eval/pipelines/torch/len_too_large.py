import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, values, width):
        self.width = width
        self.items = [values[i : i + width] for i in range(len(values) - width)]
        self.values = values

    def __len__(self):
        return len(self.values)  # expect

    def __getitem__(self, i):
        return torch.tensor(self.items[i], dtype=torch.float32), i % 2


def make():
    values = np.sin(np.arange(40) / 5).tolist()
    return DataLoader(Windows(values, 4), batch_size=6)
