"""SimSiam's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class Encoder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.elu = nn.ELU()

    def construct(self, x: Tensor) -> Tensor:
        x = self.elu(self.conv2(self.elu(self.conv1(x))))
        return ops.mean(x, (2, 3))


class SimSiam(nn.Cell):
    def __init__(self, dim: int = 24) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.projector = nn.SequentialCell(nn.Dense(16, dim), nn.BatchNorm1d(dim), nn.ReLU(), nn.Dense(dim, dim))
        self.predictor = nn.SequentialCell(nn.Dense(dim, 8), nn.ReLU(), nn.Dense(8, dim))

    def construct(self, one: Tensor, two: Tensor) -> Tensor:
        z1 = self.projector(self.encoder(one))
        z2 = self.projector(self.encoder(two))
        p1, p2 = self.predictor(z1), self.predictor(z2)
        first = ops.square(p1 - ops.stop_gradient(z2))
        second = ops.square(p2 - ops.stop_gradient(z1))
        return first + second


def build() -> nn.Cell:
    return SimSiam()
