"""The DCGAN generator's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class Up(nn.Cell):
    """A transposed convolution, normalised, with a ReLU."""

    def __init__(self, inp: int, out: int, stride: int = 2, padding: int = 1) -> None:
        super().__init__()
        self.deconv = nn.Conv2dTranspose(inp, out, 4, stride, "pad", padding, weight_init=Normal(0.02))
        self.norm = nn.BatchNorm2d(out, gamma_init=Normal(0.02, 1.0))
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.relu(self.norm(self.deconv(x)))


class Generator(nn.Cell):
    def __init__(self, noise: int = 16, width: int = 8) -> None:
        super().__init__()
        self.up1 = Up(noise, 4 * width, stride=1, padding=0)
        self.up2 = Up(4 * width, 2 * width)
        self.up3 = Up(2 * width, width)
        self.last = nn.Conv2dTranspose(width, 3, 4, 2, "pad", 1, weight_init=Normal(0.02))

    def construct(self, noise: Tensor) -> Tensor:
        x = noise.expand_dims(2).expand_dims(3)
        x = self.up3(self.up2(self.up1(x)))
        return ops.tanh(self.last(x))


def build() -> nn.Cell:
    return Generator()
