"""An autoencoder of dense layers in torch, here the benchmark of a rewrite."""

from __future__ import annotations

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, inputs: int = 24, code: int = 6) -> None:
        super().__init__()
        self.enc1 = nn.Linear(inputs, 20)
        self.bn1 = nn.BatchNorm1d(20)
        self.enc2 = nn.Linear(20, 20)
        self.bn2 = nn.BatchNorm1d(20)
        self.code = nn.Linear(20, code, bias=False)
        self.dec1 = nn.Linear(code, 20)
        self.bn3 = nn.BatchNorm1d(20)
        self.dec2 = nn.Linear(20, inputs)
        self.act = nn.LeakyReLU(0.2)
        self.drop = nn.Dropout(0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop(self.act(self.bn1(self.enc1(x))))
        x = self.drop(self.act(self.bn2(self.enc2(x))))
        code = torch.tanh(self.code(x))
        return torch.sigmoid(self.dec2(self.act(self.bn3(self.dec1(code)))))


def build() -> nn.Module:
    return Autoencoder()
