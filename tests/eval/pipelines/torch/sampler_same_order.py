import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset


class FixedShuffle(Sampler):
    def __init__(self, source, seed=0):
        self.source = source
        self.seed = seed

    def __len__(self):
        return len(self.source)

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)  # expect
        return iter(torch.randperm(len(self.source), generator=g).tolist())


def make():
    data = TensorDataset(torch.arange(48.0).view(24, 2), torch.arange(24) % 3)
    return DataLoader(data, batch_size=4, sampler=FixedShuffle(data))
