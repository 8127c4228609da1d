"""A small DenseNet-BC for 48-pixel pictures, in torch."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


class DenseLayer(nn.Module):
    """One bottleneck layer: it adds `growth` channels to what it gets."""

    def __init__(self, width: int, growth: int, bottleneck: int, drop: float) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(width)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(width, bottleneck * growth, kernel_size=1, bias=False)
        self.norm2 = nn.BatchNorm2d(bottleneck * growth)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bottleneck * growth, growth, kernel_size=3, padding=1, bias=False)
        self.drop = drop

    def forward(self, features: list[torch.Tensor]) -> torch.Tensor:
        """The new channels."""
        out = self.conv1(self.relu1(self.norm1(torch.cat(features, 1))))
        out = self.conv2(self.relu2(self.norm2(out)))
        return F.dropout(out, p=self.drop, training=self.training)


class DenseBlock(nn.ModuleDict):
    """Layers that each see the outputs of all before."""

    def __init__(self, layers: int, width: int, growth: int, bottleneck: int, drop: float) -> None:
        super().__init__()
        for i in range(layers):
            self.add_module(f"denselayer{i + 1}", DenseLayer(width + i * growth, growth, bottleneck, drop))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """All channels side by side."""
        features = [x]
        for layer in self.values():
            features.append(layer(features))
        return torch.cat(features, 1)


class Transition(nn.Sequential):
    """Fewer channels, half the size."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__(
            OrderedDict(
                norm=nn.BatchNorm2d(width),
                relu=nn.ReLU(inplace=True),
                conv=nn.Conv2d(width, out, kernel_size=1, bias=False),
                pool=nn.AvgPool2d(kernel_size=2, stride=2),
            )
        )


class DenseNet(nn.Module):
    """Stem, three dense blocks, classifier."""

    def __init__(self, growth: int = 6, blocks: tuple[int, ...] = (2, 3, 2), stem: int = 12, classes: int = 10) -> None:
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict(
                conv0=nn.Conv2d(3, stem, kernel_size=7, stride=2, padding=3, bias=False),
                norm0=nn.BatchNorm2d(stem),
                relu0=nn.ReLU(inplace=True),
                pool0=nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
            )
        )
        width = stem
        for i, layers in enumerate(blocks):
            self.features.add_module(f"denseblock{i + 1}", DenseBlock(layers, width, growth, 2, 0.1))
            width += layers * growth
            if i + 1 < len(blocks):
                self.features.add_module(f"transition{i + 1}", Transition(width, width // 2))
                width //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(width))
        self.classifier = nn.Linear(width, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
            elif isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        out = F.relu(self.features(x), inplace=True)
        out = torch.flatten(F.adaptive_avg_pool2d(out, (1, 1)), 1)
        return self.classifier(out)


def build() -> nn.Module:
    """The network."""
    return DenseNet()
