"""A user's torch models."""

from __future__ import annotations

import torch
from torch import nn

print("torch_side is being imported")


class Net(nn.Module):
    """A small network with most of what a checkpoint can hold: statistics, tied weights, buffers kept and not kept."""

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(8, eps=eps)
        self.fc = nn.Linear(8, 6)
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.second.weight = self.first.weight
        self.first.bias.requires_grad_(False)
        self.register_buffer("scale", torch.ones(2))
        self.register_buffer("scratch", torch.ones(3), persistent=False)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        middle = self.fc(self.drop(torch.relu(self.bn(self.conv(x)))).mean((2, 3)))
        return {"out": self.second(self.first(middle)), "middle": middle}


def net() -> Net:
    torch.manual_seed(0)
    return Net()


def other_eps() -> Net:
    return Net(eps=1e-2)


class Factories:
    @staticmethod
    def make() -> Net:
        return net()


READY = net()


def noisy() -> nn.Module:
    class Noisy(nn.Module):
        def forward(self, x):
            return torch.nn.functional.dropout(x, 0.5)

    return Noisy()


def lazy() -> nn.Module:
    return nn.Sequential(nn.LazyLinear(3))


def two_inputs() -> nn.Module:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, a, b):
            return self.fc(a) + b

    return Two()


def half() -> nn.Module:
    return nn.Linear(4, 3).to(torch.bfloat16)
