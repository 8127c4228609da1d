# run: dp.03
"""Batches cut from the arrays, in their order, in every epoch."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(48, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(3):
    for start in range(0, len(x), 16):
        inputs, labels = x[start : start + 16], y[start : start + 16]
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
