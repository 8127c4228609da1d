"""The U-Net's port to torch."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class DoubleConv(nn.Module):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inp, out, 3, padding=1)
        self.norm1 = nn.GroupNorm(4, out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.leaky_relu(self.norm1(self.conv1(x)), 0.1)
        x = self.norm2(self.conv2(x))
        return F.leaky_relu(x, 0.1)


class Up(nn.Module):
    def __init__(self, inp: int, skip: int, out: int) -> None:
        super().__init__()
        self.reduce = nn.Conv2d(inp, skip, 1)
        self.conv = DoubleConv(2 * skip, out)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        x = F.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
        return self.conv(torch.cat([skip, self.reduce(x)], dim=1))


class UNet(nn.Module):
    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.inc = DoubleConv(3, 8)
        self.pool = nn.MaxPool2d(2)
        self.down1 = DoubleConv(8, 16)
        self.down2 = DoubleConv(16, 32)
        self.up1 = Up(32, 16, 16)
        self.up2 = Up(16, 8, 8)
        self.outc = nn.Conv2d(8, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x1 = self.inc(x)
        x2 = self.down1(self.pool(x1))
        x3 = self.down2(self.pool(x2))
        x = self.up1(x3, x2)
        x = self.up2(x, x1)
        return self.outc(x)


def build() -> nn.Module:
    return UNet()
