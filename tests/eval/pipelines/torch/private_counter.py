import torch
from torch.utils.data import DataLoader, Dataset


class Counted(Dataset):
    def __init__(self):
        self.rows = [[float(i), float(i * i)] for i in range(16)]
        self.at = 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[self.at]  # expect
        self.at += 1
        return torch.tensor(row)


def make():
    return DataLoader(Counted(), batch_size=4)
