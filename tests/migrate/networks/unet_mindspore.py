"""A UNet in MindSpore: GroupNorm, PReLU, transposed convolutions, skips by concatenation."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class DoubleConv(nn.Cell):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.double_conv = nn.SequentialCell(
            nn.Conv2d(inp, out, 3, pad_mode="pad", padding=1),
            nn.GroupNorm(4, out),
            nn.PReLU(out),
            nn.Conv2d(out, out, 3, pad_mode="pad", padding=1),
            nn.GroupNorm(4, out),
            nn.PReLU(),
        )

    def construct(self, x: Tensor) -> Tensor:
        return self.double_conv(x)


class Down(nn.Cell):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.maxpool_conv = nn.SequentialCell(nn.MaxPool2d(2, stride=2), DoubleConv(inp, out))

    def construct(self, x: Tensor) -> Tensor:
        return self.maxpool_conv(x)


class Up(nn.Cell):
    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.up = nn.Conv2dTranspose(inp, inp // 2, kernel_size=2, stride=2, pad_mode="valid", has_bias=True)
        self.conv = DoubleConv(inp, out)

    def construct(self, x: Tensor, skip: Tensor) -> Tensor:
        return self.conv(ops.concat((skip, self.up(x)), axis=1))


class UNet(nn.Cell):
    def __init__(self, channels: int = 3, classes: int = 2) -> None:
        super().__init__()
        self.inc = DoubleConv(channels, 8)
        self.down1 = Down(8, 16)
        self.down2 = Down(16, 32)
        self.up1 = Up(32, 16)
        self.up2 = Up(16, 8)
        self.outc = nn.Conv2d(8, classes, kernel_size=1, has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        return self.outc(self.up2(self.up1(x3, x2), x1))


def build() -> nn.Cell:
    """PReLU with a slope per channel, and with one."""
    return UNet()
