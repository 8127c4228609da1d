"""The same model, ported."""

from __future__ import annotations

from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(p=0.5)
        self.fc = nn.Dense(8, 5)

    def construct(self, x):
        return self.fc(self.drop(ops.relu(self.bn(self.conv(x)))).mean((2, 3)))


def net() -> Net:
    return Net()
