"""Layers of torch by what is done with them: as they should be, and each with something wrong."""

from __future__ import annotations

import torch
from torch import nn


class Swish(nn.Module):
    """An activation of the user's own."""

    def forward(self, x):
        return x * torch.sigmoid(x)


class Scaled(nn.Module):
    """A layer of the user's own, which multiplies by an argument."""

    def __init__(self, dim: int, scale: float = 0.5, eps: float = 1e-6) -> None:
        super().__init__()
        self.scale, self.eps = scale, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * self.scale * self.weight / (x.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()


class Projection(nn.Module):
    """A product with a square weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))

    def forward(self, x):
        return x @ self.weight.t()


class Sideways(Projection):
    """The same with the weight the other way round."""

    def forward(self, x):
        return x @ self.weight


class Coarse(nn.Linear):
    """A product whose result is rounded to a shorter float."""

    def forward(self, x):
        return super().forward(x).bfloat16()


class Cell(nn.Module):
    """One step of an LSTM of the user's own."""

    def __init__(self) -> None:
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(16, 3) * 0.3)
        self.weight_hh = nn.Parameter(torch.randn(16, 4) * 0.3)

    def gates(self, x, h):
        return (x @ self.weight_ih.t() + h @ self.weight_hh.t()).chunk(4, -1)

    def forward(self, x, h, c):
        i, f, g, o = self.gates(x, h)
        return torch.sigmoid(o) * torch.tanh(torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g))


class OtherCell(Cell):
    """The same with two gates exchanged."""

    def forward(self, x, h, c):
        i, g, f, o = self.gates(x, h)
        return torch.sigmoid(o) * torch.tanh(torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g))


def right() -> dict[str, nn.Module]:
    """The benchmark."""
    return {
        "conv_side": nn.Conv2d(3, 4, 3, stride=2, padding=1),
        "conv_odd": nn.Conv2d(3, 4, 3, stride=2, padding=1),
        "conv_stride": nn.Conv2d(3, 4, 3, stride=2, padding=1),
        "conv_dilation": nn.Conv2d(3, 4, 3, padding=2, dilation=2),
        "conv_groups": nn.Conv2d(4, 4, 3, padding=1, groups=2),
        "conv_bias": nn.Conv2d(3, 4, 3, padding=1),
        "conv_equal": nn.Conv2d(3, 4, 3, padding=1),
        "conv1d_pad": nn.Conv1d(3, 4, 5, padding=2),
        "transposed": nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1),
        "transposed_equal": nn.ConvTranspose2d(3, 4, 4, stride=2, padding=1),
        "two_causes": nn.Conv2d(3, 4, 3, stride=2, padding=1),
        "bn_eps": nn.BatchNorm2d(4, eps=1e-3),
        "bn_momentum": nn.BatchNorm2d(4),
        "bn_equal": nn.BatchNorm2d(4),
        "ln_eps": nn.LayerNorm(6),
        "ln_equal": nn.LayerNorm(6),
        "gn_groups": nn.GroupNorm(2, 4),
        "max_side": nn.MaxPool2d(3, 2, 1),
        "max_stride": nn.MaxPool2d(2),
        "max_ceil": nn.MaxPool2d(3, 2, ceil_mode=True),
        "avg_count": nn.AvgPool2d(3, 1, 1),
        "avg_equal": nn.AvgPool2d(2),
        "pool_type": nn.AvgPool2d(2),
        "gelu": nn.GELU(),
        "slope": nn.LeakyReLU(0.1),
        "relu": nn.ReLU(),
        "relu6": nn.ReLU6(),
        "swish": Swish(),
        "softmax": nn.Softmax(1),
        "softmax_equal": nn.Softmax(2),
        "upsample": nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
        "lstm": nn.LSTM(3, 4, 1, batch_first=True),
        "lstm_both": nn.LSTM(3, 4, bidirectional=True),
        "gru_equal": nn.GRU(3, 4),
        "heads": nn.MultiheadAttention(8, 4, batch_first=True),
        "embedding": nn.Embedding(5, 3),
        "linear_bias": nn.Linear(6, 5),
        "linear_equal": nn.Linear(6, 5),
        "coarse": nn.Linear(6, 5),
        "scaled": Scaled(6),
        "projection": Projection(),
        "cell": Cell(),
        "dropout": nn.Dropout(0.1),
        "dropout_equal": nn.Dropout(0.3),
        "norm_type": nn.LayerNorm([4, 6, 6]),
    }


def wrong() -> dict[str, nn.Module]:
    """The port."""
    return {
        "conv_side": nn.Conv2d(3, 4, 3, stride=2, padding=0),
        "conv_odd": nn.Conv2d(3, 4, 3, stride=2, padding=0),
        "conv_stride": nn.Conv2d(3, 4, 3, padding=1),
        "conv_dilation": nn.Conv2d(3, 4, 3, padding=2),
        "conv_groups": nn.Conv2d(4, 4, 3, padding=1, groups=4),
        "conv_bias": nn.Conv2d(3, 4, 3, padding=1, bias=False),
        "conv_equal": nn.Conv2d(3, 4, 3, padding="same"),
        "conv1d_pad": nn.Conv1d(3, 4, 5, padding=1),
        "transposed": nn.ConvTranspose2d(3, 4, 3, stride=2),
        "transposed_equal": nn.ConvTranspose2d(3, 4, 4, stride=2, padding=1),
        "two_causes": nn.Conv2d(3, 4, 3, stride=1, padding=1, bias=False),
        "bn_eps": nn.BatchNorm2d(4),
        "bn_momentum": nn.BatchNorm2d(4, momentum=0.9),
        "bn_equal": nn.BatchNorm2d(4, eps=1e-5, momentum=0.1),
        "ln_eps": nn.LayerNorm(6, eps=1e-7),
        "ln_equal": nn.LayerNorm((6,), eps=1e-5),
        "gn_groups": nn.GroupNorm(4, 4),
        "max_side": nn.MaxPool2d(3, 2, 0),
        "max_stride": nn.MaxPool2d(2, 1),
        "max_ceil": nn.MaxPool2d(3, 2),
        "avg_count": nn.AvgPool2d(3, 1, 1, count_include_pad=False),
        "avg_equal": nn.AvgPool2d((2, 2), stride=2),
        "pool_type": nn.MaxPool2d(2),
        "gelu": nn.GELU(approximate="tanh"),
        "slope": nn.LeakyReLU(0.2),
        "relu": nn.SiLU(),
        "relu6": nn.ReLU(),
        "swish": nn.ReLU(),
        "softmax": nn.Softmax(-1),
        "softmax_equal": nn.Softmax(-1),
        "upsample": nn.Upsample(scale_factor=2, mode="bilinear"),
        "lstm": nn.LSTM(3, 4, 1),
        "lstm_both": nn.LSTM(3, 4),
        "gru_equal": nn.GRU(3, 4, num_layers=1),
        "heads": nn.MultiheadAttention(8, 2, batch_first=True),
        "embedding": nn.Embedding(5, 3, padding_idx=0),
        "linear_bias": nn.Linear(6, 5, bias=False),
        "linear_equal": nn.Linear(6, 5),
        "coarse": Coarse(6, 5),
        "scaled": Scaled(6, scale=0.25),
        "projection": Sideways(),
        "cell": OtherCell(),
        "dropout": nn.Dropout(0.5),
        "dropout_equal": nn.Dropout(0.3),
        "norm_type": nn.GroupNorm(1, 4),
    }


class Layers(nn.Module):
    """All of them."""

    def __init__(self) -> None:
        super().__init__()
        self.right = nn.ModuleDict(right())
        self.wrong = nn.ModuleDict(wrong())

    def forward(self, x):
        return x


def layers() -> Layers:
    torch.manual_seed(0)
    return Layers()
