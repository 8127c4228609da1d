"""The benchmark, and ports of it to the same framework."""

from __future__ import annotations

import torch
from torch import nn


class Block(nn.Module):
    """A convolution and a norm, beside the way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


class Net(nn.Module):
    """Five layers for small images."""

    def __init__(self, width: int = 8, classes: int = 5) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.pool = nn.MaxPool2d(3, 2, padding=1)
        self.block = Block(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.block(self.pool(torch.relu(self.stem(x)))).mean((2, 3)))


class Faulty(Net):
    """Two faults: the norm's eps, and the way around is gone."""

    def __init__(self, width: int = 8, classes: int = 5) -> None:
        super().__init__(width, classes)
        self.block = FaultyBlock(width)


class FaultyBlock(Block):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.norm = nn.BatchNorm2d(width, eps=1e-2)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


def net(width: int = 8, classes: int = 5) -> Net:
    return Net(width, classes)


def faulty(width: int = 8, classes: int = 5) -> Net:
    return Faulty(width, classes)


def half() -> Net:
    return Net().to(torch.bfloat16)


def compiled() -> nn.Module:
    return torch.compile(Net(), backend="aot_eager")


class Mixed(Net):
    """The same in automatic mixed precision."""

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return super().forward(x).float()


def mixed() -> Net:
    return Mixed()
