# run: hp.02
"""Few samples, many epochs: the validation loss rises from the beginning on."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 10)
y = torch.randint(0, 2, (96,))
train = DataLoader(TensorDataset(x[:32], y[:32]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(x[32:], y[32:]), batch_size=32)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(12):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        losses = [loss_fn(net(inputs), labels).item() for inputs, labels in valid]
    print(epoch, sum(losses) / len(losses))
