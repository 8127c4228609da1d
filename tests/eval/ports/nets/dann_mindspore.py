"""The domain-adversarial network's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class GradientReversal(nn.Cell):
    def __init__(self, strength: float) -> None:
        super().__init__()
        self.strength = strength

    def construct(self, x: Tensor) -> Tensor:
        return x * 1.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (-self.strength * dout,)


class Head(nn.Cell):
    def __init__(self, dim: int, out: int) -> None:
        super().__init__()
        self.fc1 = nn.Dense(dim, 16)
        self.fc2 = nn.Dense(16, out)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc2(ops.tanh(self.fc1(x)))


class Dann(nn.Cell):
    def __init__(self, inputs: int = 20, dim: int = 32) -> None:
        super().__init__()
        self.fc1 = nn.Dense(inputs, dim)
        self.bn = nn.BatchNorm1d(dim)
        self.fc2 = nn.Dense(dim, dim)
        self.label = Head(dim, 5)
        self.reversal = GradientReversal(0.5)
        self.domain = Head(dim, 2)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = ops.softplus(self.bn(self.fc1(x)))
        features = ops.sigmoid(self.fc2(x))
        label = ops.log_softmax(self.label(features), axis=1)
        return label, self.domain(self.reversal(features))


def build() -> nn.Cell:
    return Dann()
