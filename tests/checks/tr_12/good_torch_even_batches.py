"""A mean over batches, all of which have the same size."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(160, 5)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:96], y[:96]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(x[96:], y[96:]), batch_size=16)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        shares = [(net(inputs).argmax(1) == labels).float().mean() for inputs, labels in valid]
    print(torch.stack(shares).mean().item())
