import torch
from torch.utils.data import Dataset


class Ratings(Dataset):
    def __init__(self):
        self.raw = [str(i % 5) for i in range(24)]
        self.raw[12] = "3.0"

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, i):
        text = self.raw[i]
        label = torch.tensor(float(text) if "." in text else int(text))  # expect
        return torch.full((4,), float(i)), label


def make():
    return Ratings()
