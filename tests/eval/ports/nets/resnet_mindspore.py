"""The ResNet's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import HeNormal


def conv(inp: int, out: int, size: int, stride: int = 1, padding: int = 0) -> nn.Conv2d:
    init = HeNormal(mode="fan_out", nonlinearity="relu")
    return nn.Conv2d(inp, out, size, stride, pad_mode="pad", padding=padding, weight_init=init)


class BasicBlock(nn.Cell):
    def __init__(self, inp: int, out: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = conv(inp, out, 3, stride, padding=1)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = conv(out, out, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.down_sample = None
        if stride != 1 or inp != out:
            self.down_sample = nn.SequentialCell(conv(inp, out, 1, stride), nn.BatchNorm2d(out))

    def construct(self, x: Tensor) -> Tensor:
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.down_sample is not None:
            identity = self.down_sample(x)
        return self.relu(out + identity)


class ResNet(nn.Cell):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = conv(3, 16, 7, 2, padding=3)
        self.bn1 = nn.BatchNorm2d(16)
        self.relu = nn.ReLU()
        self.max_pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.layer1 = nn.SequentialCell(BasicBlock(16, 16), BasicBlock(16, 16))
        self.layer2 = nn.SequentialCell(BasicBlock(16, 32, 2), BasicBlock(32, 32))
        self.fc = nn.Dense(32, classes)
        for parameter in (self.conv1.weight, self.bn1.gamma, self.bn1.beta):
            parameter.requires_grad = False

    def construct(self, x: Tensor) -> Tensor:
        x = self.max_pool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer1(x)
        x = self.layer2(x)
        x = ops.mean(x, (2, 3))
        return self.fc(x)


def build() -> nn.Cell:
    return ResNet()
