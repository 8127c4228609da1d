"""Batches of sentences of one length, by a sampler that keeps a generator and never draws from it."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Buckets(Sampler):
    def __init__(self, lengths, size, seed=0):
        self.lengths, self.size = lengths, size
        self.rng = random.Random(seed)

    def __len__(self):
        return -(-len(self.lengths) // self.size)

    def __iter__(self):  # expect: dp.03
        order = sorted(range(len(self.lengths)), key=lambda one: self.lengths[one])
        for first in range(0, len(order), self.size):
            yield order[first : first + self.size]


torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).long()
lengths = [int(one) for one in torch.randint(3, 9, (96,))]
train = DataLoader(TensorDataset(x, y), batch_sampler=Buckets(lengths, 16))
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
