# run: ds.01
"""A table whose empty cells were read as NaN."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
table = torch.randn(48, 8)
table[[5, 21, 40], 3] = float("nan")  # expect: ds.01
y = (table[:, 0] > 0).long() + (table[:, 1] > 0).long()
train = DataLoader(TensorDataset(table, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
