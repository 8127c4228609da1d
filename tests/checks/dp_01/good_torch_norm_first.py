# run:
"""A table as it is, into a layer that normalises."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
table = torch.cat([20000 + 30000 * torch.rand(64, 1), torch.rand(64, 5)], 1)
y = (table[:, 1] > 0.5).long()
train = DataLoader(TensorDataset(table, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
net.train()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
