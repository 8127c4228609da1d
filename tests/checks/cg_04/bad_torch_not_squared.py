"""The difference is averaged as it is."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(96, 6)
y = x[:, :1] + 0.5 * x[:, 1:2]
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    for inputs, wanted in loader:
        optimizer.zero_grad()
        loss = torch.mean(wanted - net(inputs))  # expect: cg.04
        loss.backward()
        optimizer.step()
