"""Readings of a sensor that failed are marked with infinity, and go into training."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Readings(Dataset):
    def __init__(self, count):
        draw = torch.Generator().manual_seed(0)
        self.x = torch.randn(count, 5, generator=draw)
        self.y = self.x.sum(1, keepdim=True)
        self.x[torch.rand(count, 5, generator=draw) < 0.02] = float("inf")  # expect: ds.01

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


torch.manual_seed(0)
loader = DataLoader(Readings(64), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
