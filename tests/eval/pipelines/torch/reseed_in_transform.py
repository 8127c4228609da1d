import torch
from torch.utils.data import DataLoader, Dataset


class AddNoise:
    def __call__(self, x):
        torch.manual_seed(0)  # expect
        return x + torch.randn_like(x)


class Zeros(Dataset):
    def __init__(self):
        self.transform = AddNoise()

    def __len__(self):
        return 20

    def __getitem__(self, i):
        return self.transform(torch.zeros(6)), i


def make():
    return DataLoader(Zeros(), batch_size=5)
