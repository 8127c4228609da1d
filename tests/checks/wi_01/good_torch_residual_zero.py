"""Zeros where they are usual: biases, the last layer of each branch, a gate; all other weights are drawn."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Branch(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.gate = nn.Parameter(torch.zeros(1))
        nn.init.zeros_(self.down.weight)

    def forward(self, inputs):
        return inputs + (1 + self.gate) * self.down(torch.relu(self.up(inputs)))


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(6, width)
        self.branches = nn.Sequential(Branch(width), Branch(width))
        self.last = nn.Linear(width, 2)
        for name, parameter in self.named_parameters():
            if "bias" in name:
                nn.init.constant_(parameter, 0.0)
            elif "first" in name or "last" in name:
                nn.init.xavier_uniform_(parameter)

    def forward(self, inputs):
        return self.last(self.branches(self.first(inputs)))


train, _ = loaders()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for inputs, labels in train:
    optimizer.zero_grad()
    loss_fn(net(inputs), labels).backward()
    optimizer.step()
