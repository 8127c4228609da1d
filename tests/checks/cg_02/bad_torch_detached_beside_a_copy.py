"""A detach in forward, in a network of which a frozen running mean is kept."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, inputs):
        return self.head(torch.relu(self.body(inputs)).detach())  # expect: cg.02


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = Net()
average = copy.deepcopy(net)
for parameter in average.parameters():
    parameter.requires_grad_(False)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
        with torch.no_grad():
            for mean, new in zip(average.parameters(), net.parameters(), strict=True):
                mean.lerp_(new, 0.01)
