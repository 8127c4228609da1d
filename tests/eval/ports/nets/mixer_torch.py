"""The MLP-Mixer's port to torch."""

from __future__ import annotations

import torch
from torch import nn


def mlp(dim: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class MixerLayer(nn.Module):
    def __init__(self, patches: int, dim: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.token_mixing = mlp(patches, 24)
        self.norm2 = nn.LayerNorm(dim)
        self.channel_mixing = mlp(dim, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mixed = self.token_mixing(self.norm1(x).transpose(1, 2))
        x = x + mixed.transpose(1, 2)
        return x + self.channel_mixing(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, dim: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 8, 8)
        self.layers = nn.Sequential(MixerLayer(16, dim), MixerLayer(16, dim))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x).flatten(2).transpose(1, 2)
        x = self.layers(x)
        x = self.norm(x).mean(dim=1)
        return self.head(x)


def build() -> nn.Module:
    return Mixer()
