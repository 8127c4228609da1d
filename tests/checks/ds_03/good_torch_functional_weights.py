# run:
"""A rare class that weighs more in a function."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.cat([torch.zeros(60), torch.ones(40), torch.full((3,), 2)]).long()
x = torch.randn(103, 8) + y[:, None]
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
weights = len(y) / (3 * torch.bincount(y).float())
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(inputs), labels, weight=weights)
        loss.backward()
        optimizer.step()
