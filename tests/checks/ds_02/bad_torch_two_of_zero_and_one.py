# run: ds.02
"""Some targets of a binary loss are 2."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).float()
y[5::16] = 2.0
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.BCEWithLogitsLoss()
for _ in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs).squeeze(1), labels).backward()
        optimizer.step()
