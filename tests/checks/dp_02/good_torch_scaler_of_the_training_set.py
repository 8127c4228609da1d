# run:
"""A test set that is a little other than the training set, normalised with the same numbers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.cat([torch.randn(48, 8) * 2 + 5, torch.randn(32, 8) * 2.5 + 5.5])
y = (x[:, 0] > 5).long()
mean, std = x[:48].mean(0), x[:48].std(0)
x = (x - mean) / std
train = DataLoader(TensorDataset(x[:48], y[:48]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[48:], y[48:]), batch_size=16)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(hits)
