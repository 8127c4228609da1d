"""Layers without weights that are left over: another one of the kind is called, or their settings are read."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(6, width)
        self.relu = nn.ReLU()
        self.drop = nn.Dropout(0.2)
        self.later = nn.Dropout(0.1)
        self.softmax = nn.Softmax(dim=1)
        self.scale = nn.Parameter(torch.ones(width))
        self.last = nn.Linear(width, 2)

    def forward(self, inputs):
        hidden = F.dropout(F.relu(self.first(inputs)), p=self.drop.p, training=self.training)
        return self.last(hidden * self.scale)


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
