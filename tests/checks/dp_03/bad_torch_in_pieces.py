"""A generator takes four batches at a time from a loader that does not shuffle."""

from itertools import islice

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def pieces(loader, size):
    batches = iter(loader)
    while some := list(islice(batches, size)):
        yield some


torch.manual_seed(0)
x = torch.randn(128, 8)
train = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=8)  # expect: dp.03
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    for some in pieces(train, 4):
        optimizer.zero_grad()
        for inputs, labels in some:
            (nn.functional.cross_entropy(net(inputs), labels) / len(some)).backward()
        optimizer.step()
