"""Rotation regression with a geodesic (angle) loss."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        return F.normalize(self.fc2(torch.tanh(self.fc1(x))), dim=1)


class AngleLoss(nn.Module):
    def forward(self, u, v):
        cos = (u * v).sum(dim=1).clamp(-1.0, 1.0)
        angle = torch.acos(cos)
        return angle.mean()


def views():
    g = torch.Generator().manual_seed(17)
    first = torch.randn(48, 6, generator=g)
    second = first + 0.5 * torch.randn(48, 6, generator=g)
    second[24:30] = first[24:30]  # frames in which nothing moved
    return TensorDataset(first, second)


def main():
    torch.manual_seed(4)
    net = Encoder()
    criterion = AngleLoss()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (first, second) in enumerate(DataLoader(views(), batch_size=6)):
        loss = criterion(net(first), net(second))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("step", step, "angle", loss.item())


if __name__ == "__main__":
    main()
