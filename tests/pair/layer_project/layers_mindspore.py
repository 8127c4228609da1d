"""Layers of MindSpore by what is done with them: as they should be, and each with something wrong."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Swish(nn.Cell):
    """An activation of the user's own."""

    def construct(self, x):
        return x * ops.sigmoid(x)


class Scaled(nn.Cell):
    """A layer of the user's own, which multiplies by an argument."""

    def __init__(self, dim: int, scale: float = 0.5, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.scale, self.epsilon = scale, epsilon
        self.weight = ms.Parameter(ops.ones(dim), name="weight")

    def construct(self, x):
        return x * self.scale * self.weight / ((x * x).mean(-1, keep_dims=True) + self.epsilon).sqrt()


class Projection(nn.Cell):
    """A product with a square weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor(np.random.randn(6, 6).astype(np.float32)), name="weight")

    def construct(self, x):
        return ops.matmul(x, self.weight.T)


class Sideways(Projection):
    """The same with the weight the other way round."""

    def construct(self, x):
        return ops.matmul(x, self.weight)


class Cell(nn.Cell):
    """One step of an LSTM of the user's own."""

    def __init__(self) -> None:
        super().__init__()
        self.weight_ih = ms.Parameter(ms.Tensor(np.zeros((16, 3), np.float32)), name="weight_ih")
        self.weight_hh = ms.Parameter(ms.Tensor(np.zeros((16, 4), np.float32)), name="weight_hh")

    def gates(self, x, h):
        return ops.chunk(ops.matmul(x, self.weight_ih.T) + ops.matmul(h, self.weight_hh.T), 4, -1)

    def construct(self, x, h, c):
        i, f, g, o = self.gates(x, h)
        return ops.sigmoid(o) * ops.tanh(ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g))


class OtherCell(Cell):
    """The same with two gates exchanged."""

    def construct(self, x, h, c):
        i, g, f, o = self.gates(x, h)
        return ops.sigmoid(o) * ops.tanh(ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g))


def right() -> dict[str, nn.Cell]:
    """The benchmark."""
    return {
        "conv_side": nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
        "conv_odd": nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
        "conv_stride": nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
        "conv_dilation": nn.Conv2d(3, 4, 3, dilation=2, has_bias=True),
        "conv_groups": nn.Conv2d(4, 4, 3, group=2, has_bias=True),
        "conv_bias": nn.Conv2d(3, 4, 3, has_bias=True),
        "conv_equal": nn.Conv2d(3, 4, 3, has_bias=True),
        "conv1d_pad": nn.Conv1d(3, 4, 5, pad_mode="pad", padding=2, has_bias=True),
        "transposed": nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
        "transposed_equal": nn.Conv2dTranspose(3, 4, 4, stride=2, pad_mode="pad", padding=1, has_bias=True),
        "two_causes": nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
        "bn_eps": nn.BatchNorm2d(4, eps=1e-3),
        "bn_momentum": nn.BatchNorm2d(4),
        "bn_equal": nn.BatchNorm2d(4),
        "ln_eps": nn.LayerNorm((6,), epsilon=1e-5),
        "ln_equal": nn.LayerNorm((6,), epsilon=1e-5),
        "gn_groups": nn.GroupNorm(2, 4),
        "max_side": nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
        "max_stride": nn.MaxPool2d(2, 2),
        "max_ceil": nn.MaxPool2d(3, 2, pad_mode="pad", ceil_mode=True),
        "avg_count": nn.AvgPool2d(3, 1, pad_mode="pad", padding=1),
        "avg_equal": nn.AvgPool2d(2, 2),
        "pool_type": nn.AvgPool2d(2, 2),
        "gelu": nn.GELU(approximate=False),
        "slope": nn.LeakyReLU(0.1),
        "relu": nn.ReLU(),
        "relu6": nn.ReLU6(),
        "swish": Swish(),
        "softmax": nn.Softmax(1),
        "softmax_equal": nn.Softmax(2),
        "upsample": nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=True, recompute_scale_factor=True),
        "lstm": nn.LSTM(3, 4, 1, batch_first=True),
        "lstm_both": nn.LSTM(3, 4, bidirectional=True),
        "gru_equal": nn.GRU(3, 4),
        "heads": nn.MultiheadAttention(8, 4, batch_first=True),
        "embedding": nn.Embedding(5, 3),
        "linear_bias": nn.Dense(6, 5),
        "linear_equal": nn.Dense(6, 5),
        "scaled": Scaled(6),
        "projection": Projection(),
        "cell": Cell(),
        "dropout": nn.Dropout(p=0.1),
        "dropout_equal": nn.Dropout(p=0.3),
        "norm_type": nn.LayerNorm((4, 6, 6), begin_norm_axis=1, begin_params_axis=1, epsilon=1e-5),
    }


def wrong() -> dict[str, nn.Cell]:
    """The port."""
    return {
        "conv_side": nn.Conv2d(3, 4, 3, stride=2, has_bias=True),
        "conv_odd": nn.Conv2d(3, 4, 3, stride=2, has_bias=True),
        "conv_stride": nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True),
        "conv_dilation": nn.Conv2d(3, 4, 3, pad_mode="pad", padding=2, has_bias=True),
        "conv_groups": nn.Conv2d(4, 4, 3, group=4, has_bias=True),
        "conv_bias": nn.Conv2d(3, 4, 3),
        "conv_equal": nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True),
        "conv1d_pad": nn.Conv1d(3, 4, 5, pad_mode="valid", has_bias=True),
        "transposed": nn.Conv2dTranspose(3, 4, 3, stride=2, has_bias=True),
        "transposed_equal": nn.Conv2dTranspose(3, 4, 4, stride=2, has_bias=True),
        "two_causes": nn.Conv2d(3, 4, 3, stride=2),
        "bn_eps": nn.BatchNorm2d(4),
        "bn_momentum": nn.BatchNorm2d(4, momentum=0.1),
        "bn_equal": nn.BatchNorm2d(4, eps=1e-5, momentum=0.9),
        "ln_eps": nn.LayerNorm((6,)),
        "ln_equal": nn.LayerNorm([6], epsilon=1e-5),
        "gn_groups": nn.GroupNorm(4, 4),
        "max_side": nn.MaxPool2d(3, 2, pad_mode="same"),
        "max_stride": nn.MaxPool2d(2),
        "max_ceil": nn.MaxPool2d(3, 2),
        "avg_count": nn.AvgPool2d(3, 1, pad_mode="same"),
        "avg_equal": nn.AvgPool2d((2, 2), 2),
        "pool_type": nn.MaxPool2d(2, 2),
        "gelu": nn.GELU(),
        "slope": nn.LeakyReLU(),
        "relu": nn.SiLU(),
        "relu6": nn.ReLU(),
        "swish": nn.ReLU(),
        "softmax": nn.Softmax(),
        "softmax_equal": nn.Softmax(),
        "upsample": nn.Upsample(scale_factor=2.0, mode="bilinear", recompute_scale_factor=True),
        "lstm": nn.LSTM(3, 4, 1),
        "lstm_both": nn.LSTM(3, 4),
        "gru_equal": nn.GRU(3, 4, num_layers=1),
        "heads": nn.MultiheadAttention(8, 2, batch_first=True),
        "embedding": nn.Embedding(5, 3, padding_idx=0),
        "linear_bias": nn.Dense(6, 5, has_bias=False),
        "linear_equal": nn.Dense(6, 5, has_bias=True),
        "scaled": Scaled(6, scale=0.25),
        "projection": Sideways(),
        "cell": OtherCell(),
        "dropout": nn.Dropout(p=0.5),
        "dropout_equal": nn.Dropout(keep_prob=0.7),
        "norm_type": nn.GroupNorm(1, 4),
    }


class Layers(nn.Cell):
    """All of them."""

    def __init__(self) -> None:
        super().__init__()
        self.right = nn.CellDict(right())
        self.wrong = nn.CellDict(wrong())

    def construct(self, x):
        return x


def layers() -> Layers:
    ms.set_seed(0)
    return Layers()
