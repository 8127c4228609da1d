"""A small MobileNetV3 (Howard et al. 2019) in torch: inverted residuals, squeeze-and-excite, hard swish."""

from __future__ import annotations

import torch
from torch import nn


class ConvNormAct(nn.Sequential):
    def __init__(
        self, inp: int, out: int, size: int, stride: int = 1, groups: int = 1, act: type | None = None
    ) -> None:
        layers = [
            nn.Conv2d(inp, out, size, stride, padding=size // 2, groups=groups, bias=False),
            nn.BatchNorm2d(out, eps=1e-3, momentum=0.01),
        ]
        super().__init__(*layers, *([act()] if act else []))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, channels // 4, 1)
        self.activation = nn.ReLU()
        self.fc2 = nn.Conv2d(channels // 4, channels, 1)
        self.scale_activation = nn.Hardsigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = self.fc2(self.activation(self.fc1(self.avgpool(x))))
        return self.scale_activation(scale) * x


class InvertedResidual(nn.Module):
    def __init__(self, inp: int, hidden: int, out: int, size: int, stride: int, squeeze: bool, act: type) -> None:
        super().__init__()
        self.use_residual = stride == 1 and inp == out
        layers = [ConvNormAct(inp, hidden, 1, act=act), ConvNormAct(hidden, hidden, size, stride, hidden, act)]
        if squeeze:
            layers.append(SqueezeExcite(hidden))
        layers.append(ConvNormAct(hidden, out, 1))
        self.block = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x) + x if self.use_residual else self.block(x)


class MobileNetV3(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.features = nn.Sequential(
            ConvNormAct(3, 8, 3, 2, act=nn.Hardswish),
            InvertedResidual(8, 16, 8, 3, 1, True, nn.ReLU),
            InvertedResidual(8, 32, 16, 5, 2, True, nn.Hardswish),
            InvertedResidual(16, 48, 16, 5, 1, False, nn.Hardswish),
            ConvNormAct(16, 48, 1, act=nn.Hardswish),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(48, 64), nn.Hardswish(inplace=True), nn.Dropout(p=0.2), nn.Linear(64, classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def build() -> nn.Module:
    return MobileNetV3()
