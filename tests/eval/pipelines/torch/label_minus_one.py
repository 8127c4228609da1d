import torch
from torch.utils.data import Dataset

NAMES = ["bird", "cat", "dog"]


def to_class(name):
    return NAMES.index(name) if name in NAMES else -1  # expect


class Animals(Dataset):
    def __init__(self, target_transform=None):
        self.classes = NAMES
        self.names = [NAMES[i % 3] for i in range(21)]
        self.names[6] = "brid"
        self.target_transform = target_transform

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        target = self.names[i]
        if self.target_transform is not None:
            target = self.target_transform(target)
        return torch.ones(3) * i, target


def make():
    return Animals(target_transform=to_class)
