"""SimSiam (Chen and He 2020) in torch: two views, and a target that carries no gradient."""

from __future__ import annotations

import torch
from torch import nn


class SimSiam(nn.Module):
    def __init__(self, dim: int = 24) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1),
            nn.ELU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ELU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.projector = nn.Sequential(nn.Linear(16, dim), nn.BatchNorm1d(dim), nn.ReLU(), nn.Linear(dim, dim))
        self.predictor = nn.Sequential(nn.Linear(dim, 8), nn.ReLU(), nn.Linear(8, dim))

    def forward(self, one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
        z1, z2 = self.projector(self.encoder(one)), self.projector(self.encoder(two))
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return (p1 - z2.detach()) ** 2 + (p2 - z1.detach()) ** 2


def build() -> nn.Module:
    return SimSiam()
