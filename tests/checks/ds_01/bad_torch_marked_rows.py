# run: ds.01
"""Readings that failed are -999, and go into the network like any other."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = x @ torch.randn(6, 1)
failed = torch.rand(96) < 0.2
x[failed, 2] = -999.0
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    for inputs, targets in train:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs), targets).backward()
        optimizer.step()
