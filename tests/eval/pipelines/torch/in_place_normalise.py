import torch
from torch.utils.data import DataLoader, Dataset


class Normalise:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return x.sub_(self.mean).div_(self.std)  # expect


class Temperatures(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(13)
        self.x = torch.randn(32, 4, generator=g) * 5 + 20
        self.transform = Normalise(20.0, 5.0)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.transform(self.x[i]).clone(), i % 2


def make():
    return DataLoader(Temperatures(), batch_size=8, shuffle=True)
