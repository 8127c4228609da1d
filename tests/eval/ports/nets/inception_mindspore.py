"""GoogLeNet's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class ConvBlock(nn.Cell):
    def __init__(self, inp: int, out: int, size: int, stride: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inp, out, size, stride, pad_mode="pad", padding=padding)
        self.bn = nn.BatchNorm2d(out, eps=0.001)
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.relu(self.bn(self.conv(x)))


class Inception(nn.Cell):
    def __init__(self, inp: int) -> None:
        super().__init__()
        self.b1 = ConvBlock(inp, 8, 1)
        self.b2 = nn.SequentialCell(ConvBlock(inp, 8, 1), ConvBlock(8, 12, 3, padding=1))
        self.b3 = nn.SequentialCell(ConvBlock(inp, 4, 1), ConvBlock(4, 6, 5, padding=2))
        self.b4 = nn.SequentialCell(nn.MaxPool2d(3, 1, pad_mode="pad", padding=1), ConvBlock(inp, 6, 1))

    def construct(self, x: Tensor) -> Tensor:
        return ops.concat((self.b1(x), self.b2(x), self.b3(x), self.b4(x)), axis=1)


class GoogLeNet(nn.Cell):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = ConvBlock(3, 16, 5, stride=2, padding=2)
        self.pool1 = nn.MaxPool2d(3, 2, pad_mode="pad", ceil_mode=True)
        self.inception3a = Inception(16)
        self.pool2 = nn.MaxPool2d(3, 2, pad_mode="pad", ceil_mode=True)
        self.inception4a = Inception(32)
        self.pool3 = nn.AvgPool2d(2, 2)
        self.dropout = nn.Dropout(p=0.4)
        self.fc = nn.Dense(32, classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.pool1(self.stem(x))
        x = self.pool2(self.inception3a(x))
        x = self.pool3(self.inception4a(x))
        return self.fc(self.dropout(ops.mean(x, (2, 3))))


def build() -> nn.Cell:
    return GoogLeNet()
