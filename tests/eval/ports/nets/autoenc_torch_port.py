"""The autoencoder rewritten in blocks, still in torch."""

from __future__ import annotations

import torch
from torch import nn


class DenseBlock(nn.Module):
    def __init__(self, inp: int, out: int, p: float) -> None:
        super().__init__()
        self.linear = nn.Linear(inp, out)
        self.norm = nn.BatchNorm1d(out)
        self.act = nn.LeakyReLU(0.2)
        self.drop = nn.Dropout(p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.act(self.norm(self.linear(x))))


class Autoencoder(nn.Module):
    def __init__(self, inputs: int = 24, code: int = 6) -> None:
        super().__init__()
        self.encoder = nn.Sequential(DenseBlock(inputs, 20, 0.3), DenseBlock(20, 20, 0.3))
        self.bottleneck = nn.Linear(20, code, bias=False)
        self.decoder = DenseBlock(code, 20, 0.0)
        self.output = nn.Linear(20, inputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        code = self.bottleneck(self.encoder(x)).tanh()
        x = self.decoder(code)
        return self.output(x).sigmoid()


def build() -> nn.Module:
    return Autoencoder()
