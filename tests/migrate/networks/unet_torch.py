"""A UNet in PyTorch: GroupNorm, PReLU, transposed convolutions, skips by concatenation."""

from __future__ import annotations

import torch
from torch import nn


class DoubleConv(nn.Module):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inp, out, 3, padding=1, bias=False),
            nn.GroupNorm(4, out),
            nn.PReLU(out),
            nn.Conv2d(out, out, 3, padding=1, bias=False),
            nn.GroupNorm(4, out),
            nn.PReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inp, out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(inp, inp // 2, kernel_size=2, stride=2)
        self.conv = DoubleConv(inp, out)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        return self.conv(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module):
    def __init__(self, channels: int = 3, classes: int = 2) -> None:
        super().__init__()
        self.inc = DoubleConv(channels, 8)
        self.down1 = Down(8, 16)
        self.down2 = Down(16, 32)
        self.up1 = Up(32, 16)
        self.up2 = Up(16, 8)
        self.outc = nn.Conv2d(8, classes, kernel_size=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        return self.outc(self.up2(self.up1(x3, x2), x1))


def build() -> nn.Module:
    """PReLU with a slope per channel, and with one."""
    return UNet()
