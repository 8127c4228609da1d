"""Blocks with their ways around, written in several ways; a norm before the answer; a stem without a way around."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.feed = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, inputs):
        hidden = torch.add(inputs, torch.tanh(self.mix(self.norm1(inputs))))
        return hidden + torch.relu(self.feed(self.norm2(hidden)))


class Beside(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.feed = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, inputs):
        return inputs + torch.tanh(self.mix(self.norm1(inputs))) + torch.relu(self.feed(self.norm2(inputs)))


class ResidualMLP(nn.Module):
    def __init__(self, width, depth, classes):
        super().__init__()
        self.stem = nn.Linear(width, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, inputs):
        hidden = self.stem(inputs)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.head(self.norm(hidden))


class Residue(nn.Module):
    """What is left over is the answer: nothing is added inside."""

    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, inputs):
        return self.layers(inputs)


class After(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.embed, self.feed = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, inputs):
        hidden = self.norm1(self.embed(inputs))
        return self.norm2(hidden + torch.relu(self.feed(hidden)))


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(Block(6), Beside(6), Residue(6), After(6), ResidualMLP(6, 2, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
