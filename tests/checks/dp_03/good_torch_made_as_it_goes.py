# run:
"""Samples that are drawn anew at every step have no order."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Drawn(IterableDataset):
    def __iter__(self):
        for _ in range(48):
            x = torch.randn(8)
            yield x, (x[0] > 0).long()


torch.manual_seed(0)
train = DataLoader(Drawn(), batch_size=16)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
