# run: cg.04
"""Prediction and target are stretched to each other's shape."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(96, 6)
y = x[:, 0] + 0.5 * x[:, 1]
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.MSELoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)  # expect: cg.04
        loss.backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum(((net(inputs)[:, 0] - targets).abs() < 0.5).sum().item() for inputs, targets in test)
    print(epoch, hits / len(test.dataset))
