"""Networks over time in MindSpore: a dilated temporal network and a small vocoder."""

from __future__ import annotations

from mindspore import Tensor, nn


class TemporalBlock(nn.Cell):
    """Causal: it pads the past only."""

    def __init__(self, inp: int, out: int, dilation: int, batch_norm: bool) -> None:
        super().__init__()
        self.pad = nn.Pad(((0, 0), (0, 0), (2 * dilation, 0)))
        self.conv1 = nn.Conv1d(inp, out, 3, dilation=dilation, pad_mode="valid", has_bias=True)
        self.bn1 = nn.BatchNorm1d(out) if batch_norm else nn.Identity()
        self.conv2 = nn.Conv1d(out, out, 3, dilation=dilation, pad_mode="valid", has_bias=True)
        self.bn2 = nn.BatchNorm1d(out) if batch_norm else nn.Identity()
        self.relu = nn.ReLU()
        self.downsample = nn.Conv1d(inp, out, 1, has_bias=True) if inp != out else None

    def construct(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(self.pad(x))))
        out = self.relu(self.bn2(self.conv2(self.pad(out))))
        if self.downsample is not None:
            x = self.downsample(x)
        return self.relu(out + x)


class TemporalConvNet(nn.Cell):
    def __init__(self, batch_norm: bool = True) -> None:
        super().__init__()
        channels = [4, 8, 16, 16]
        self.network = nn.SequentialCell(
            [TemporalBlock(channels[i], channels[i + 1], 2**i, batch_norm) for i in range(len(channels) - 1)]
        )
        self.linear = nn.Dense(channels[-1], 5)

    def construct(self, x: Tensor) -> Tensor:
        return self.linear(self.network(x)[:, :, -1])


class ResBlock(nn.Cell):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convs1 = nn.CellList(
            [nn.Conv1d(channels, channels, 3, dilation=d, pad_mode="pad", padding=d, has_bias=True) for d in (1, 3)]
        )
        self.convs2 = nn.CellList(
            [nn.Conv1d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=True) for _ in range(2)]
        )
        self.act = nn.LeakyReLU(0.1)

    def construct(self, x: Tensor) -> Tensor:
        for first, second in zip(self.convs1, self.convs2, strict=True):
            x = x + second(self.act(first(self.act(x))))
        return x


class Vocoder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv_pre = nn.Conv1d(8, 16, 7, pad_mode="pad", padding=3, has_bias=True)
        self.ups = nn.CellList(
            [
                nn.Conv1dTranspose(16 >> i, 8 >> i, 4, stride=2, pad_mode="pad", padding=1, has_bias=True)
                for i in range(2)
            ]
        )
        self.resblocks = nn.CellList([ResBlock(8 >> i) for i in range(2)])
        self.conv_post = nn.Conv1d(4, 1, 7, pad_mode="pad", padding=3, has_bias=True)
        self.act = nn.LeakyReLU(0.1)
        self.last_act = nn.LeakyReLU(0.01)

    def construct(self, x: Tensor) -> Tensor:
        x = self.conv_pre(x)
        for up, block in zip(self.ups, self.resblocks, strict=True):
            x = block(up(self.act(x)))
        return self.conv_post(self.last_act(x))


def build() -> nn.Cell:
    """A temporal network with BatchNorm1d."""
    return TemporalConvNet()


def build_plain() -> nn.Cell:
    """The temporal network without BatchNorm: torch's has weight norm in its place."""
    return TemporalConvNet(batch_norm=False)


def build_vocoder() -> nn.Cell:
    """Transposed convolutions over time, plain."""
    return Vocoder()
