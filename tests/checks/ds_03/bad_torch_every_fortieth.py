"""Every fortieth sample is of the other class."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rare = (torch.arange(400) % 40 == 0).long()
x = torch.randn(400, 4) + 2 * rare[:, None]
train = DataLoader(TensorDataset(x, rare), batch_size=20, shuffle=True)  # expect: ds.03
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
    print(epoch)
