# run:
"""A large batch of a set that is much larger."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(6144, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x, y), batch_size=512, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
loss_fn = nn.CrossEntropyLoss()
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
