"""A user's torch models that draw their weights in one way or another."""

from __future__ import annotations

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3)
        self.blocks = nn.ModuleList([nn.Conv2d(32, 48, 3), nn.Conv2d(48, 64, 3), nn.Conv2d(64, 32, 3)])
        self.bn = nn.BatchNorm2d(32)
        self.up = nn.ConvTranspose2d(32, 16, 2)
        self.lstm = nn.LSTM(16, 24)
        self.norm = nn.LayerNorm(24)
        self.fc = nn.Linear(24, 40)


def default() -> Net:
    return Net()


def kaiming() -> Net:
    net = Net()
    for one in net.modules():
        if isinstance(one, nn.Conv2d):
            nn.init.kaiming_normal_(one.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(one.bias)
    nn.init.zeros_(net.bn.weight)
    nn.init.normal_(net.fc.weight, std=0.01)
    return net


def seeded() -> Net:
    torch.manual_seed(0)
    return Net()


READY = Net()
