"""The two networks that recording is measured on, and a very small one."""

from __future__ import annotations

import itertools
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


class _Block(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride > 1 or inner != outer:
            self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: Any) -> Any:
        kept = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + kept)


class ResNet18(nn.Module):
    """ResNet-18 with its 7x7 stem: on 32x32 images a step is mostly weights, which is where recording costs most."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = (64, 64, 128, 256, 512)
        self.layers = nn.Sequential(
            *[
                nn.Sequential(_Block(before, after, 1 if after == 64 else 2), _Block(after, after, 1))
                for before, after in itertools.pairwise(widths)
            ]
        )
        self.fc = nn.Linear(512, 10)

    def forward(self, x: Any) -> Any:
        x = self.layers(self.maxpool(self.relu(self.bn1(self.conv1(x)))))
        return self.fc(x.mean((2, 3)))


class Transformer(nn.Module):
    """Four encoder layers of width 256 over tokens."""

    def __init__(self, vocabulary: int = 1000, width: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: Any) -> Any:
        return self.head(self.encoder(self.embedding(tokens)))


class Small(nn.Module):
    """A few milliseconds per step."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, 2, 1)
        self.bn = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, 2, 1)
        self.fc = nn.Linear(32 * 64, 10)

    def forward(self, x: Any) -> Any:
        return self.fc(F.relu(self.conv2(F.relu(self.bn(self.conv(x))))).flatten(1))


def case(name: str) -> tuple[nn.Module, Any, Any]:
    """A network, its data set and its loss."""
    torch.manual_seed(0)
    if name == "transformer":
        tokens = torch.randint(0, 1000, (64, 128))
        return (
            Transformer(),
            torch.utils.data.TensorDataset(tokens, tokens),
            (lambda out, goal: F.cross_entropy(out.flatten(0, 1), goal.flatten())),
        )
    images = torch.randn(256, 3, 32, 32)
    data = torch.utils.data.TensorDataset(images, torch.randint(0, 10, (256,)))
    return (ResNet18() if name == "resnet18" else Small()), data, F.cross_entropy
