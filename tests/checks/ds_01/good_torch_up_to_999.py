# run:
"""A scale that goes up to 999 has 999 among its values."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
levels = torch.randint(0, 1000, (96, 6)).float()
levels[::12, 0] = 999.0
y = levels.mean(1, keepdim=True) / 1000
train = DataLoader(TensorDataset(levels, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    for inputs, targets in train:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs), targets).backward()
        optimizer.step()
