"""Samplers of the project's own: one draws in a method, one cuts batches out of a sampler that it is given."""

import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, Sampler, TensorDataset


class ByEpoch(Sampler):
    def __init__(self, count):
        self.count, self.times = count, 0

    def __len__(self):
        return self.count

    def _order(self):
        return torch.randperm(self.count).tolist()

    def __iter__(self):
        self.times += 1
        yield from self._order()


class Batches(Sampler):
    def __init__(self, inner, size):
        self.inner, self.size = inner, size

    def __len__(self):
        return len(self.inner) // self.size

    def __iter__(self):
        batch = []
        for index in self.inner:
            batch.append(index)
            if len(batch) == self.size:
                yield batch
                batch = []


torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).long()
data = TensorDataset(x, y)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for train in (
    DataLoader(data, batch_size=16, sampler=ByEpoch(96)),
    DataLoader(data, batch_sampler=Batches(RandomSampler(data), 16)),
):
    for inputs, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
