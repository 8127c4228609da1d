"""The same network in MindSpore: one port that is right, and one that is not."""

from __future__ import annotations

from mindspore import nn, ops


class Block(nn.Cell):
    """A convolution and a norm, beside the way around them."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, pad_mode="pad", padding=1)
        self.norm = nn.BatchNorm2d(width, eps=eps)

    def construct(self, x):
        return ops.relu(self.norm(self.conv(x)) + x)


class Net(nn.Cell):
    """Five layers for small images."""

    def __init__(self, width: int = 8, classes: int = 5, eps: float = 1e-5) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.block = Block(width, eps)
        self.head = nn.Dense(width, classes)

    def construct(self, x):
        return self.head(self.block(self.pool(ops.relu(self.stem(x)))).mean((2, 3)))


class Faulty(Net):
    """Two faults: the norm's eps, and 'same' padding of the pool, which pads the other side of even sizes."""

    def __init__(self, width: int = 8, classes: int = 5) -> None:
        super().__init__(width, classes)
        self.block = Block(width, eps=1e-3)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="same")


def net(width: int = 8, classes: int = 5) -> Net:
    return Net(width, classes)


def faulty(width: int = 8, classes: int = 5) -> Net:
    return Faulty(width, classes)
