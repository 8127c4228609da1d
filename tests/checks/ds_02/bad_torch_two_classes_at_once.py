# run: ds.02
"""One-hot rows, of which some have two ones."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(48, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
rows = nn.functional.one_hot(y, 3).float()
rows[[4, 30]] = torch.tensor([1.0, 1.0, 0.0])
train = DataLoader(TensorDataset(x, rows), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
