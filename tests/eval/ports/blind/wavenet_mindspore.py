"""A small WaveNet over quantised samples, in MindSpore."""

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class CausalConv(nn.Cell):
    """A dilated convolution that sees only the past."""

    def __init__(self, cin: int, cout: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.conv = nn.Conv1d(cin, cout, kernel, pad_mode="valid", dilation=dilation, has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        """As long as the input."""
        x = ops.pad(x, (self.pad, 0))
        return self.conv(x)


def conv1x1(cin: int, cout: int) -> nn.Cell:
    """The same layer at each time."""
    return nn.Conv1d(cin, cout, 1, pad_mode="valid", has_bias=True)


class GatedBlock(nn.Cell):
    """Gated convolution with a residual and a skip output."""

    def __init__(self, width: int, skip: int, dilation: int) -> None:
        super().__init__()
        self.conv_filter = CausalConv(width, width, 2, dilation)
        self.conv_gate = CausalConv(width, width, 2, dilation)
        self.conv_res = conv1x1(width, width)
        self.conv_skip = conv1x1(width, skip)
        self.tanh = nn.Tanh()
        self.sigmoid = nn.Sigmoid()

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What goes on, and what goes to the end."""
        z = self.tanh(self.conv_filter(x)) * self.sigmoid(self.conv_gate(x))
        skip = self.conv_skip(z)
        return x + self.conv_res(z), skip


class WaveNet(nn.Cell):
    """Two cycles of growing dilation."""

    def __init__(self, levels: int = 64, width: int = 12, skip: int = 20, cycle: int = 4, cycles: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(levels, width, embedding_table=Normal(1.0))
        self.front = CausalConv(width, width, 2, 1)
        self.stack = nn.CellList([GatedBlock(width, skip, 2**i) for _ in range(cycles) for i in range(cycle)])
        self.end1 = conv1x1(skip, skip)
        self.end2 = conv1x1(skip, levels)

    def construct(self, samples: Tensor) -> Tensor:
        """(B, levels, T)."""
        x = self.front(self.embedding(samples).transpose((0, 2, 1)))
        total = 0
        for block in self.stack:
            x, skip = block(x)
            total = total + skip
        x = self.end1(ops.relu(total))
        return self.end2(ops.relu(x))


def build() -> nn.Cell:
    """The network."""
    return WaveNet()
