import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def make():
    x = torch.linspace(0, 1, 40).view(40, 1)
    data = TensorDataset(x, (x[:, 0] > 0.5).long())
    sampler = DistributedSampler(data, num_replicas=1, rank=0, shuffle=True, seed=11)  # expect
    return DataLoader(data, batch_size=8, sampler=sampler)
