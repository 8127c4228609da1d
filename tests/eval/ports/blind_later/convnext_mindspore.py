"""A small ConvNeXt (Liu et al. 2022) for 36-pixel pictures, in MindSpore."""

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer


def conv(cin: int, cout: int, kernel: int, stride: int) -> nn.Cell:
    """A convolution of patches that do not overlap."""
    return nn.Conv2d(
        cin, cout, kernel, stride, pad_mode="valid", has_bias=True, weight_init=Normal(0.02), bias_init="zeros"
    )


def dense(cin: int, cout: int) -> nn.Cell:
    """A layer with ConvNeXt's first weights."""
    return nn.Dense(cin, cout, weight_init=Normal(0.02), bias_init="zeros")


class ChannelNorm(nn.Cell):
    """Layer norm over the channels of a map whose channels come first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((width,), epsilon=1e-6)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        return self.norm(x.transpose((0, 2, 3, 1))).transpose((0, 3, 1, 2))


class StochasticDepth(nn.Cell):
    """Leaves out the branch of whole samples in training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=rate)

    def construct(self, x: Tensor) -> Tensor:
        """The branch, or zero."""
        if not self.training:
            return x
        return x * self.dropout(ops.ones((x.shape[0], 1, 1, 1), x.dtype))


class ConvNeXtBlock(nn.Cell):
    """Depthwise convolution, norm, two layers for each pixel, a scale for each channel."""

    def __init__(self, width: int, rate: float) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(
            width,
            width,
            7,
            pad_mode="pad",
            padding=3,
            group=width,
            has_bias=True,
            weight_init=Normal(0.02),
            bias_init="zeros",
        )
        self.norm = nn.LayerNorm((width,), epsilon=1e-6)
        self.expand = dense(width, 4 * width)
        self.act = nn.GELU(approximate=False)
        self.shrink = dense(4 * width, width)
        self.layer_scale = Parameter(initializer(1e-6, (width,)))
        self.drop_path = StochasticDepth(rate)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        y = self.depthwise(x).transpose((0, 2, 3, 1))
        y = self.shrink(self.act(self.expand(self.norm(y))))
        y = (self.layer_scale * y).transpose((0, 3, 1, 2))
        return x + self.drop_path(y)


class ConvNeXt(nn.Cell):
    """A stem of patches, three stages with a halving before the later two, head."""

    def __init__(self, classes: int = 12) -> None:
        super().__init__()
        depths, widths = (1, 2, 1), (12, 20, 28)
        rates = np.linspace(0, 0.3, sum(depths))
        self.stem = nn.SequentialCell(conv(3, widths[0], 4, 4), ChannelNorm(widths[0]))
        layers, done = [], 0
        for index, (depth, width) in enumerate(zip(depths, widths, strict=True)):
            if index > 0:
                layers.append(nn.SequentialCell(ChannelNorm(widths[index - 1]), conv(widths[index - 1], width, 2, 2)))
            for i in range(depth):
                layers.append(ConvNeXtBlock(width, float(rates[done + i])))
            done += depth
        self.body = nn.SequentialCell(layers)
        self.head_norm = nn.LayerNorm((widths[-1],), epsilon=1e-6)
        self.classifier = dense(widths[-1], classes)

    def construct(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.body(self.stem(x))
        x = ops.mean(x, (2, 3))
        return self.classifier(self.head_norm(x))


def build() -> nn.Cell:
    """The network."""
    return ConvNeXt()
