"""A small EfficientNet for 32-pixel pictures, in MindSpore."""

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import HeNormal, Uniform


class Swish(nn.Cell):
    """x times sigmoid of x."""

    def construct(self, x: Tensor) -> Tensor:
        """The activation."""
        return x * ops.sigmoid(x)


class ConvBlock(nn.Cell):
    """Convolution, batch norm, Swish."""

    def __init__(self, cin: int, cout: int, kernel: int, stride: int = 1, group: int = 1, act: bool = True) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            cin,
            cout,
            kernel,
            stride,
            pad_mode="pad",
            padding=(kernel - 1) // 2,
            group=group,
            weight_init=HeNormal(mode="fan_out"),
        )
        self.bn = nn.BatchNorm2d(cout, eps=1e-3, momentum=0.99)
        self.act = Swish() if act else None

    def construct(self, x: Tensor) -> Tensor:
        """The three in a row."""
        x = self.bn(self.conv(x))
        if self.act is not None:
            x = self.act(x)
        return x


class SEBlock(nn.Cell):
    """Scales each channel by what the whole picture says."""

    def __init__(self, width: int, squeezed: int) -> None:
        super().__init__()
        init = HeNormal(mode="fan_out")
        self.reduce = nn.Conv2d(width, squeezed, 1, has_bias=True, weight_init=init, bias_init="zeros")
        self.expand = nn.Conv2d(squeezed, width, 1, has_bias=True, weight_init=init, bias_init="zeros")
        self.act = Swish()

    def construct(self, x: Tensor) -> Tensor:
        """The scaled map."""
        s = ops.mean(x, (2, 3), keep_dims=True)
        s = self.expand(self.act(self.reduce(s)))
        return x * ops.sigmoid(s)


class DropConnect(nn.Cell):
    """Drops the branch of whole samples in training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.dropout = nn.Dropout(p=rate)

    def construct(self, x: Tensor) -> Tensor:
        """The branch, or zero."""
        if self.training and self.rate > 0:
            mask = self.dropout(ops.ones((x.shape[0], 1, 1, 1), x.dtype))
            x = x * mask
        return x


class MBConv(nn.Cell):
    """Inverted bottleneck with squeeze and excite."""

    def __init__(self, cin: int, cout: int, kernel: int, stride: int, expand: int, drop: float) -> None:
        super().__init__()
        hidden = cin * expand
        self.has_expand = expand != 1
        if self.has_expand:
            self.expand_conv = ConvBlock(cin, hidden, 1)
        self.depthwise = ConvBlock(hidden, hidden, kernel, stride, group=hidden)
        self.se = SEBlock(hidden, max(1, cin // 4))
        self.project = ConvBlock(hidden, cout, 1, act=False)
        self.drop_connect = DropConnect(drop)
        self.shortcut = stride == 1 and cin == cout

    def construct(self, x: Tensor) -> Tensor:
        """The block, plus its input where the shapes allow."""
        out = x
        if self.has_expand:
            out = self.expand_conv(out)
        out = self.project(self.se(self.depthwise(out)))
        if self.shortcut:
            out = self.drop_connect(out) + x
        return out


class EfficientNet(nn.Cell):
    """Stem, five MBConv blocks, head."""

    def __init__(self, classes: int = 12) -> None:
        super().__init__()
        self.stem = ConvBlock(3, 8, 3, 2)
        self.blocks = nn.CellList(
            [
                MBConv(8, 8, 3, 1, 1, 0.0),
                MBConv(8, 12, 3, 2, 4, 0.05),
                MBConv(12, 12, 5, 1, 4, 0.1),
                MBConv(12, 20, 5, 2, 4, 0.15),
                MBConv(20, 20, 3, 1, 4, 0.2),
            ]
        )
        self.head = ConvBlock(20, 48, 1)
        self.dropout = nn.Dropout(p=0.2)
        self.fc = nn.Dense(48, classes, weight_init=Uniform(classes**-0.5), bias_init="zeros")
        for param in self.stem.trainable_params():
            param.requires_grad = False

    def construct(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = ops.mean(self.head(x), (2, 3))
        return self.fc(self.dropout(x))


def build() -> nn.Cell:
    """The network; its stem is frozen, as for fine-tuning."""
    return EfficientNet()
