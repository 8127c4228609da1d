"""Networks over time in PyTorch: a dilated temporal network and a small vocoder, with weight norm written both ways."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations
from torch.nn.utils import weight_norm as hooked_weight_norm

Norm = Callable[[nn.Module], nn.Module]


class TemporalBlock(nn.Module):
    """Causal: it pads the past only."""

    def __init__(self, inp: int, out: int, dilation: int, norm: Norm | None) -> None:
        super().__init__()
        self.padding = 2 * dilation
        wrap = norm or (lambda layer: layer)
        self.conv1 = wrap(nn.Conv1d(inp, out, 3, dilation=dilation))
        self.bn1 = nn.Identity() if norm else nn.BatchNorm1d(out)
        self.conv2 = wrap(nn.Conv1d(out, out, 3, dilation=dilation))
        self.bn2 = nn.Identity() if norm else nn.BatchNorm1d(out)
        self.downsample = nn.Conv1d(inp, out, 1) if inp != out else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.bn1(self.conv1(F.pad(x, (self.padding, 0)))))
        out = F.relu(self.bn2(self.conv2(F.pad(out, (self.padding, 0)))))
        return F.relu(out + (x if self.downsample is None else self.downsample(x)))


class TemporalConvNet(nn.Module):
    def __init__(self, norm: Norm | None = None) -> None:
        super().__init__()
        channels = [4, 8, 16, 16]
        self.network = nn.Sequential(
            *[TemporalBlock(channels[i], channels[i + 1], 2**i, norm) for i in range(len(channels) - 1)]
        )
        self.linear = nn.Linear(channels[-1], 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.network(x)[:, :, -1])


class ResBlock(nn.Module):
    def __init__(self, channels: int, norm: Norm) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList([norm(nn.Conv1d(channels, channels, 3, dilation=d, padding=d)) for d in (1, 3)])
        self.convs2 = nn.ModuleList([norm(nn.Conv1d(channels, channels, 3, padding=1)) for _ in range(2)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for first, second in zip(self.convs1, self.convs2, strict=True):
            x = x + second(F.leaky_relu(first(F.leaky_relu(x, 0.1)), 0.1))
        return x


class Vocoder(nn.Module):
    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.conv_pre = norm(nn.Conv1d(8, 16, 7, padding=3))
        self.ups = nn.ModuleList([norm(nn.ConvTranspose1d(16 >> i, 8 >> i, 4, stride=2, padding=1)) for i in range(2)])
        self.resblocks = nn.ModuleList([ResBlock(8 >> i, norm) for i in range(2)])
        self.conv_post = norm(nn.Conv1d(4, 1, 7, padding=3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_pre(x)
        for up, block in zip(self.ups, self.resblocks, strict=True):
            x = block(up(F.leaky_relu(x, 0.1)))
        return self.conv_post(F.leaky_relu(x, 0.01))


def build() -> nn.Module:
    """A temporal network with BatchNorm1d."""
    return TemporalConvNet()


def build_weight_norm() -> nn.Module:
    """Weight norm as a parametrisation: `parametrizations.weight.original0`, `.original1`."""
    return TemporalConvNet(parametrizations.weight_norm)


def build_weight_norm_hooked() -> nn.Module:
    """Weight norm as a hook: `weight_g`, `weight_v`."""
    return TemporalConvNet(hooked_weight_norm)


def build_vocoder() -> nn.Module:
    """Transposed convolutions over time, plain."""
    return Vocoder(lambda layer: layer)


def build_vocoder_weight_norm() -> nn.Module:
    """The vocoder with weight norm as a hook, as published ones are."""
    return Vocoder(hooked_weight_norm)
