"""Siamese network with a contrastive loss on euclidean distance."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, n=48):
        g = torch.Generator().manual_seed(21)
        self.left = torch.randn(n, 10, generator=g)
        self.right = self.left + 0.3 * torch.randn(n, 10, generator=g)
        self.same = (torch.rand(n, generator=g) > 0.5).float()
        self.right[20] = self.left[20]  # the same photograph uploaded twice
        self.same[20] = 1.0

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return self.left[i], self.right[i], self.same[i]


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 8))

    def forward(self, x):
        return self.layers(x)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, same):
        gap = ((a - b) ** 2).sum(dim=1)
        dist = torch.sqrt(gap)
        pull = same * dist
        push = (1 - same) * torch.relu(self.margin - dist)
        return (pull + push).mean()


def main():
    torch.manual_seed(0)
    tower = Tower()
    criterion = ContrastiveLoss()
    optimizer = torch.optim.SGD(tower.parameters(), lr=0.05)
    for step, (left, right, same) in enumerate(DataLoader(Pairs(), batch_size=6)):
        loss = criterion(tower(left), tower(right), same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
