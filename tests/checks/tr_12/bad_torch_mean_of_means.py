"""The accuracies of batches are added up and divided by their number."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count, seed):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 6, generator=draw)
    return TensorDataset(x, (x[:, 0] > x[:, 1]).long())


def train_epoch(net, loader, optimizer):
    net.train()
    for inputs, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    total = 0.0
    for inputs, labels in loader:
        total += (net(inputs).argmax(1) == labels).float().mean().item()
    return total / len(loader)  # expect: tr.12


def main():
    torch.manual_seed(0)
    train = DataLoader(make(96, 1), batch_size=16, shuffle=True)
    valid = DataLoader(make(50, 2), batch_size=16)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(2):
        train_epoch(net, train, optimizer)
        print(epoch, accuracy(net, valid))


if __name__ == "__main__":
    main()
