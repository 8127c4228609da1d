"""The block is built before the loop that appends it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, inputs):
        return inputs + torch.relu(self.inner(inputs))


class Net(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        self.first = nn.Linear(6, width)
        self.blocks = nn.ModuleList()
        block = Block(width)
        for _ in range(depth):
            self.blocks.append(block)  # expect: cg.01
        self.last = nn.Linear(width, 2)

    def forward(self, inputs):
        hidden = self.first(inputs)
        for block in self.blocks:
            hidden = block(hidden)
        return self.last(hidden)


train, _ = loaders()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for inputs, labels in train:
    optimizer.zero_grad()
    loss_fn(net(inputs), labels).backward()
    optimizer.step()
