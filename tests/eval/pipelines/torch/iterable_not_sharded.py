import torch
from torch.utils.data import DataLoader, IterableDataset


class Log(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):  # expect
            yield torch.tensor([float(i)]), torch.tensor(i)


def make():
    return DataLoader(Log(20), batch_size=5, num_workers=2)
