"""Missing values are there, and are filled before anything is trained."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 5)
y = x.sum(1, keepdim=True)
x[::9, 2] = float("nan")
x = torch.nan_to_num(x, nan=0.0)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(2):
    for inputs, wanted in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs), wanted).backward()
        optimizer.step()
