"""Labels of 12 kinds for a network of 10 outputs."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self, count, seed):
        draw = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 12, (count,), generator=draw)  # expect: ds.02
        self.x = F.one_hot(self.y, 12).float() + 0.1 * torch.randn(count, 12, generator=draw)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def main(classes=10):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, classes))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for inputs, labels in DataLoader(Digits(96, 0), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
