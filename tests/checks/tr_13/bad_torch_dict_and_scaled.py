"""Heads in a plain dict, and a parameter that is multiplied before it is kept."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Net(nn.Module):
    def __init__(self, heads=("side", "main")):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.shift = nn.Parameter(torch.randn(16)) * 0.1  # expect: tr.13
        self.heads = {name: nn.Linear(16, 2) for name in heads}  # expect: tr.13

    def forward(self, inputs):
        hidden = torch.relu(self.body(inputs) + self.shift)
        return self.heads["main"](hidden) + self.heads["side"](hidden)


train, _ = loaders()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs, labels = next(iter(train))
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward(retain_graph=True)
        optimizer.step()
