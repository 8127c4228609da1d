# run:
"""Three coded answers a person: many people have the same ones and differ all the same."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randint(0, 4, (200, 3)).float() / 3
y = ((x.sum(1) + 0.3 * torch.randn(200)) > 1.5).long()
train = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
