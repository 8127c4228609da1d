import torch
from torch.utils.data import DataLoader, TensorDataset


def make():
    data = TensorDataset(torch.arange(40.0).view(20, 2), torch.arange(20) % 2)
    return DataLoader(data, batch_size=5, shuffle=True, generator=torch.Generator().manual_seed(0))
