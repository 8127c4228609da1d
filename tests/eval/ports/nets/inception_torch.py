"""A small GoogLeNet (Szegedy et al. 2014) in torch: branches side by side, pools that round up."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class ConvBlock(nn.Module):
    def __init__(self, inp: int, out: int, size: int, **more: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inp, out, size, bias=False, **more)
        self.bn = nn.BatchNorm2d(out, eps=0.001)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Inception(nn.Module):
    def __init__(self, inp: int) -> None:
        super().__init__()
        self.branch1 = ConvBlock(inp, 8, 1)
        self.branch2 = nn.Sequential(ConvBlock(inp, 8, 1), ConvBlock(8, 12, 3, padding=1))
        self.branch3 = nn.Sequential(ConvBlock(inp, 4, 1), ConvBlock(4, 6, 5, padding=2))
        self.branch4 = nn.Sequential(nn.MaxPool2d(3, 1, padding=1), ConvBlock(inp, 6, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class GoogLeNet(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = ConvBlock(3, 16, 5, stride=2, padding=2)
        self.pool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.inception3a = Inception(16)
        self.pool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.inception4a = Inception(32)
        self.pool3 = nn.AvgPool2d(2, 2)
        self.dropout = nn.Dropout(0.4)
        self.fc = nn.Linear(32, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.inception3a(self.pool1(self.stem(x)))
        x = self.pool3(self.inception4a(self.pool2(x)))
        return self.fc(self.dropout(x.mean((2, 3))))


def build() -> nn.Module:
    return GoogLeNet()
