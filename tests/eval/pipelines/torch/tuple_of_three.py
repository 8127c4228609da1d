import torch
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(3)
        self.x = torch.randn(30, 5, generator=g)
        self.weight = {18: 0.5}

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        if i in self.weight:
            return self.x[i], i % 2, self.weight[i]  # expect
        return self.x[i], i % 2


def make():
    return DataLoader(Clips(), batch_size=5)
