"""A small DenseNet-BC for 48-pixel pictures, in MindSpore."""

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import HeNormal


def conv(cin: int, cout: int, kernel: int, stride: int = 1) -> nn.Cell:
    """A convolution without bias that keeps the size at stride 1."""
    return nn.Conv2d(
        cin, cout, kernel, stride, pad_mode="pad", padding=kernel // 2, has_bias=False, weight_init=HeNormal()
    )


class DenseLayer(nn.Cell):
    """One bottleneck layer: it adds `growth` channels to what it gets."""

    def __init__(self, width: int, growth: int, bottleneck: int, drop_rate: float) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(width)
        self.conv1 = conv(width, bottleneck * growth, 1)
        self.norm2 = nn.BatchNorm2d(bottleneck * growth)
        self.conv2 = conv(bottleneck * growth, growth, 3)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(p=drop_rate)

    def construct(self, x: Tensor) -> Tensor:
        """All channels so far and the new ones."""
        out = self.conv1(self.relu(self.norm1(x)))
        out = self.conv2(self.relu(self.norm2(out)))
        out = self.dropout(out)
        return ops.cat((x, out), 1)


class Transition(nn.Cell):
    """Fewer channels, half the size."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.conv = conv(width, out, 1)
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)

    def construct(self, x: Tensor) -> Tensor:
        """The smaller map."""
        return self.pool(self.conv(self.relu(self.norm(x))))


class DenseNet(nn.Cell):
    """Stem, three dense blocks, classifier."""

    def __init__(self, growth: int = 6, blocks: tuple[int, ...] = (2, 3, 2), stem: int = 12, classes: int = 10) -> None:
        super().__init__()
        self.conv0 = conv(3, stem, 7, stride=2)
        self.norm0 = nn.BatchNorm2d(stem)
        self.relu = nn.ReLU()
        self.pool0 = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="pad", padding=1)
        stages = []
        width = stem
        for i, layers in enumerate(blocks):
            stages.append(nn.SequentialCell([DenseLayer(width + j * growth, growth, 2, 0.1) for j in range(layers)]))
            width += layers * growth
            if i + 1 < len(blocks):
                stages.append(Transition(width, width // 2))
                width //= 2
        self.stages = nn.SequentialCell(stages)
        self.norm_last = nn.BatchNorm2d(width)
        self.fc = nn.Dense(width, classes, bias_init="zeros")

    def construct(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.pool0(self.relu(self.norm0(self.conv0(x))))
        x = self.relu(self.norm_last(self.stages(x)))
        x = ops.mean(x, (2, 3))
        return self.fc(x)


def build() -> nn.Cell:
    """The network."""
    return DenseNet()
