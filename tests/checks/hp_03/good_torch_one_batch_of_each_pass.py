# run:
"""A new iterator for every step takes the first batch only, which is small against the set."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(4000, 5)
train = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=100, shuffle=True)
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(12):
    inputs, targets = next(iter(train))
    optimizer.zero_grad()
    nn.functional.mse_loss(net(inputs), targets).backward()
    optimizer.step()
