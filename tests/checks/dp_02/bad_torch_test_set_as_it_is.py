# run: dp.02
"""The training set is normalised and the test set is not."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(80, 3, 8, 8)
y = (x[:, 0].mean((1, 2)) > 0.5).long()
train = DataLoader(TensorDataset((x[:48] - 0.5) / 0.29, y[:48]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[48:], y[48:]), batch_size=16)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(1):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(hits)
