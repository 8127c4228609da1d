"""Two blocks, each added to what goes into it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.inner(self.norm(x)))


def main():
    torch.manual_seed(0)
    rows = torch.randn(256, 8)
    loader = DataLoader(TensorDataset(rows, (rows.sum(1) > 0).long()), batch_size=32, shuffle=True)
    net = nn.Sequential(nn.Linear(8, 16), Block(16), Block(16), nn.Linear(16, 2))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        for inputs, labels in loader:
            optimizer.zero_grad()
            criterion(net(inputs), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
