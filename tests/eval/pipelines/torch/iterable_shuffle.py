import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(32):
            yield torch.tensor([i, i + 1.0]), i % 2


def make():
    return DataLoader(Stream(), batch_size=4, shuffle=True)  # expect
