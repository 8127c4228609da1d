"""A user's MindSpore models."""

from __future__ import annotations

import mindspore as ms
from mindspore import nn, ops


class Net(nn.Cell):
    """The same network as torch_side's."""

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=False)
        self.bn = nn.BatchNorm2d(8, eps=eps)
        self.fc = nn.Dense(8, 6)
        self.first = nn.Dense(6, 6)
        self.second = nn.Dense(6, 6)
        self.second.weight = self.first.weight
        self.scale = ms.Parameter(ms.Tensor([1.0, 1.0]), name="its_own_name", requires_grad=False)
        self.register_buffer("scratch", ms.Tensor([1.0, 1.0]))
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x):
        middle = self.fc(self.drop(ops.relu(self.bn(self.conv(x)))).mean((2, 3)))
        return self.second(self.first(middle)), middle


def net() -> Net:
    return Net()


def other_eps() -> Net:
    return Net(eps=1e-2)


class NoKernel(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = ms.mint.nn.Conv2d(3, 4, 3)

    def construct(self, x):
        return self.conv(x) + 1


def no_kernel() -> nn.Cell:
    from mindspore.train import serialization

    # As where most of the memory holds cached files.
    serialization._get_available_memory = lambda: 10
    return NoKernel()


def one_output() -> nn.Cell:
    return nn.SequentialCell(nn.Conv2d(3, 4, 3))
