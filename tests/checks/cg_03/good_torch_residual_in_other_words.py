# port-of: bench_torch_residual.py
"""The same network in other words: a module for the activation, the sum the other way round, names of its own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(in_features=width, out_features=width)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.inner(self.norm(x))) + x


def main():
    torch.manual_seed(0)
    rows = torch.randn(256, 8)
    loader = DataLoader(TensorDataset(rows, (rows.sum(1) > 0).long()), batch_size=32, shuffle=True)
    net = nn.Sequential(nn.Linear(8, 16), Block(16), Block(16), nn.Linear(16, 2))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(net(inputs), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
