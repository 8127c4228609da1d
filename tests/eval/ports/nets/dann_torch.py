"""A domain-adversarial network (Ganin et al. 2015) in torch: the gradient of one head is turned round."""

from __future__ import annotations

import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, strength: float) -> torch.Tensor:
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return -ctx.strength * grad, None


class GradientReversal(nn.Module):
    def __init__(self, strength: float) -> None:
        super().__init__()
        self.strength = strength

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Reverse.apply(x, self.strength)


class Dann(nn.Module):
    def __init__(self, inputs: int = 20, dim: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Linear(inputs, dim), nn.BatchNorm1d(dim), nn.Softplus(), nn.Linear(dim, dim))
        self.label = nn.Sequential(nn.Linear(dim, 16), nn.Tanh(), nn.Linear(16, 5))
        self.reversal = GradientReversal(0.5)
        self.domain = nn.Sequential(nn.Linear(dim, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = torch.sigmoid(self.features(x))
        return self.label(features).log_softmax(dim=1), self.domain(self.reversal(features))


def build() -> nn.Module:
    return Dann()
