# run:
"""-999 stands for missing, and becomes a zero with a flag before the network sees it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = x @ torch.randn(6, 1)
x[torch.rand(96) < 0.2, 2] = -999.0
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    for inputs, targets in train:
        missing = inputs == -999.0
        known = torch.cat([inputs.masked_fill(missing, 0.0), missing.float()], dim=1)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(known), targets).backward()
        optimizer.step()
