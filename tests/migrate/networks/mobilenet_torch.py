"""Inverted residuals with depthwise convolutions in PyTorch; one variant with squeeze-and-excite."""

from __future__ import annotations

import torch
from torch import nn


class ConvBNReLU(nn.Sequential):
    def __init__(self, inp: int, oup: int, kernel_size: int = 3, stride: int = 1, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inp, oup, kernel_size, stride, (kernel_size - 1) // 2, groups=groups, bias=False),
            nn.BatchNorm2d(oup),
            nn.ReLU6(inplace=True),
        )


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, max(8, channels // 4), 1)
        self.fc2 = nn.Conv2d(max(8, channels // 4), channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = torch.relu(self.fc1(x.mean((2, 3), keepdim=True)))
        return x * torch.sigmoid(self.fc2(scale))


class InvertedResidual(nn.Module):
    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, squeeze: bool) -> None:
        super().__init__()
        hidden = inp * expand_ratio
        self.use_res_connect = stride == 1 and inp == oup
        layers: list[nn.Module] = []
        if expand_ratio != 1:
            layers.append(ConvBNReLU(inp, hidden, kernel_size=1))
        layers.append(ConvBNReLU(hidden, hidden, stride=stride, groups=hidden))
        if squeeze:
            layers.append(SqueezeExcite(hidden))
        layers += [nn.Conv2d(hidden, oup, 1, bias=False), nn.BatchNorm2d(oup)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    settings = ((1, 8, 1, 1), (4, 16, 2, 2), (4, 24, 2, 2), (4, 32, 1, 1))

    def __init__(self, squeeze: bool = False, num_classes: int = 10) -> None:
        super().__init__()
        channels = 8
        features: list[nn.Module] = [ConvBNReLU(3, channels, stride=2)]
        for expand, out, repeats, stride in self.settings:
            for i in range(repeats):
                features.append(InvertedResidual(channels, out, stride if i == 0 else 1, expand, squeeze))
                channels = out
        features.append(ConvBNReLU(channels, 64, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(64, num_classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x).mean((2, 3)))


def build() -> nn.Module:
    """Like MobileNetV2."""
    return MobileNetV2()


def build_squeeze() -> nn.Module:
    """With squeeze-and-excite: convolutions with a bias beside those without."""
    return MobileNetV2(squeeze=True)
