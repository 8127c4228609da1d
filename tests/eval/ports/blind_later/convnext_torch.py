"""A small ConvNeXt (Liu et al. 2022) for 36-pixel pictures, in torch."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn


class LayerNorm2d(nn.Module):
    """Layer norm over the channels of a map whose channels come first."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        mean = x.mean(1, keepdim=True)
        var = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt(var + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class DropPath(nn.Module):
    """Leaves out the branch of whole samples in training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The branch, or zero."""
        if self.rate == 0.0 or not self.training:
            return x
        keep = 1.0 - self.rate
        return x * x.new_empty((x.shape[0], 1, 1, 1)).bernoulli_(keep) / keep


class Block(nn.Module):
    """Depthwise convolution, norm, two layers for each pixel, a scale for each channel."""

    def __init__(self, width: int, rate: float, scale: float = 1e-6) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(scale * torch.ones(width))
        self.drop_path = DropPath(rate)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
        return x + self.drop_path((self.gamma * y).permute(0, 3, 1, 2))


class ConvNeXt(nn.Module):
    """A stem of patches, three stages with a halving before the later two, head."""

    def __init__(self, classes: int = 12, depths: tuple[int, ...] = (1, 2, 1), widths: tuple[int, ...] = (12, 20, 28)):
        super().__init__()
        self.downsample_layers = nn.ModuleList([nn.Sequential(nn.Conv2d(3, widths[0], 4, 4), LayerNorm2d(widths[0]))])
        for before, after in pairwise(widths):
            self.downsample_layers.append(nn.Sequential(LayerNorm2d(before), nn.Conv2d(before, after, 2, 2)))
        rates = torch.linspace(0, 0.3, sum(depths)).tolist()
        self.stages = nn.ModuleList()
        for depth, width in zip(depths, widths, strict=True):
            self.stages.append(nn.Sequential(*[Block(width, rates.pop(0)) for _ in range(depth)]))
        self.norm = nn.LayerNorm(widths[-1], eps=1e-6)
        self.head = nn.Linear(widths[-1], classes)
        self.apply(self._init)

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, nn.Conv2d | nn.Linear):
            nn.init.trunc_normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        for down, stage in zip(self.downsample_layers, self.stages, strict=True):
            x = stage(down(x))
        return self.head(self.norm(x.mean((-2, -1))))


def build() -> nn.Module:
    """The network."""
    return ConvNeXt()
