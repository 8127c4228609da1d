"""A small U-Net (Ronneberger et al. 2015) in MindSpore, here the benchmark."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


def conv(inp: int, out: int, size: int = 3) -> nn.Conv2d:
    return nn.Conv2d(inp, out, size, pad_mode="pad", padding=size // 2, has_bias=True)


class DoubleConv(nn.Cell):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.conv1 = conv(inp, out)
        self.norm1 = nn.GroupNorm(4, out)
        self.conv2 = conv(out, out)
        self.norm2 = nn.GroupNorm(4, out)
        self.act = nn.LeakyReLU(0.1)

    def construct(self, x: Tensor) -> Tensor:
        x = self.act(self.norm1(self.conv1(x)))
        return self.act(self.norm2(self.conv2(x)))


class Up(nn.Cell):
    def __init__(self, inp: int, skip: int, out: int) -> None:
        super().__init__()
        self.reduce = conv(inp, skip, 1)
        self.conv = DoubleConv(2 * skip, out)

    def construct(self, x: Tensor, skip: Tensor) -> Tensor:
        x = ops.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
        return self.conv(ops.concat((skip, self.reduce(x)), axis=1))


class UNet(nn.Cell):
    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.inc = DoubleConv(3, 8)
        self.down1 = DoubleConv(8, 16)
        self.down2 = DoubleConv(16, 32)
        self.up1 = Up(32, 16, 16)
        self.up2 = Up(16, 8, 8)
        self.outc = conv(8, classes, 1)
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x: Tensor) -> Tensor:
        x1 = self.inc(x)
        x2 = self.down1(self.pool(x1))
        x3 = self.down2(self.pool(x2))
        return self.outc(self.up2(self.up1(x3, x2), x1))


def build() -> nn.Cell:
    return UNet()
