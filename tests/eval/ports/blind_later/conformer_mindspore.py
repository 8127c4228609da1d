"""A small Conformer (Gulati et al. 2020) that names the word in a recording, in MindSpore; here the benchmark."""

import math

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import XavierUniform, initializer


def swish(x: Tensor) -> Tensor:
    """x times sigmoid of x."""
    return x * ops.sigmoid(x)


def distances(length: int, width: int) -> Tensor:
    """Sines and cosines of the distances length - 1 down to 1 - length."""
    place = np.arange(length - 1, -length, -1)[:, None]
    rate = np.exp(np.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = np.zeros((2 * length - 1, width))
    table[:, 0::2], table[:, 1::2] = np.sin(place * rate), np.cos(place * rate)
    return Tensor(table.astype(np.float32))


class Subsampling(nn.Cell):
    """A quarter of the frames."""

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 2, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(8, 8, 3, 2, pad_mode="valid", has_bias=True)
        self.proj = nn.Dense(8 * (((features - 1) // 2 - 1) // 2), width)

    def construct(self, x: Tensor) -> Tensor:
        """(B, T / 4, width)."""
        x = ops.relu(self.conv1(x.expand_dims(1)))
        x = ops.relu(self.conv2(x))
        b, c, t, f = x.shape
        return self.proj(x.transpose((0, 2, 1, 3)).reshape((b, t, c * f)))


class FeedForward(nn.Cell):
    """Two layers with Swish between."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.layer1 = nn.Dense(width, 4 * width)
        self.layer2 = nn.Dense(4 * width, width)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        x = self.dropout(swish(self.layer1(self.norm(x))))
        return self.dropout(self.layer2(x))


class RelativeAttention(nn.Cell):
    """Attention that knows distances, as in Transformer-XL."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.each = heads, width // heads
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.position = nn.Dense(width, width, has_bias=False)
        self.out = nn.Dense(width, width)
        self.u = Parameter(initializer(XavierUniform(), (heads, self.each)))
        self.v = Parameter(initializer(XavierUniform(), (heads, self.each)))
        self.dropout = nn.Dropout(p=0.1)

    def shift(self, x: Tensor) -> Tensor:
        """From distances to places of the keys."""
        b, h, t, n = x.shape
        x = ops.cat((ops.zeros((b, h, t, 1), x.dtype), x), -1).reshape((b, h, n + 1, t))
        return x[:, :, 1:].reshape((b, h, t, n))[:, :, :, :t]

    def construct(self, x: Tensor, table: Tensor) -> Tensor:
        """The same shape."""
        b, t, c = x.shape
        x = self.norm(x)
        q = self.query(x).reshape((b, t, self.heads, self.each))
        k = self.key(x).reshape((b, t, self.heads, self.each)).transpose((0, 2, 3, 1))
        v = self.value(x).reshape((b, t, self.heads, self.each)).transpose((0, 2, 1, 3))
        p = self.position(table).reshape((-1, self.heads, self.each)).transpose((1, 2, 0)).expand_dims(0)
        content = ops.matmul((q + self.u).transpose((0, 2, 1, 3)), k)
        places = self.shift(ops.matmul((q + self.v).transpose((0, 2, 1, 3)), p))
        weights = self.dropout(ops.softmax((content + places) / math.sqrt(self.each), -1))
        return self.dropout(self.out(ops.matmul(weights, v).transpose((0, 2, 1, 3)).reshape((b, t, c))))


class ConvModule(nn.Cell):
    """Gated pointwise, depthwise and pointwise convolution over time."""

    def __init__(self, width: int, kernel: int = 5) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.pointwise1 = nn.Conv1d(width, 2 * width, 1, pad_mode="valid", has_bias=True)
        self.depthwise = nn.Conv1d(
            width, width, kernel, pad_mode="pad", padding=(kernel - 1) // 2, group=width, has_bias=True
        )
        self.bn = nn.BatchNorm1d(width)
        self.pointwise2 = nn.Conv1d(width, width, 1, pad_mode="valid", has_bias=True)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        x = self.pointwise1(self.norm(x).transpose((0, 2, 1)))
        value, gate = ops.chunk(x, 2, 1)
        x = self.depthwise(value * ops.sigmoid(gate))
        x = self.pointwise2(swish(self.bn(x)))
        return self.dropout(x.transpose((0, 2, 1)))


class ConformerBlock(nn.Cell):
    """Half a feed forward, attention, convolution, the other half, norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ff1 = FeedForward(width)
        self.attention = RelativeAttention(width, heads)
        self.conv = ConvModule(width)
        self.ff2 = FeedForward(width)
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)

    def construct(self, x: Tensor, table: Tensor) -> Tensor:
        """The same shape."""
        x = x + 0.5 * self.ff1(x)
        x = x + self.attention(x, table)
        x = x + self.conv(x)
        x = x + 0.5 * self.ff2(x)
        return self.norm(x)


class Conformer(nn.Cell):
    """Subsampling, blocks, the mean over time, classifier."""

    def __init__(self, features: int = 20, width: int = 24, heads: int = 3, blocks: int = 2, words: int = 12) -> None:
        super().__init__()
        self.width = width
        self.subsampling = Subsampling(features, width)
        self.dropout = nn.Dropout(p=0.1)
        self.blocks = nn.CellList([ConformerBlock(width, heads) for _ in range(blocks)])
        self.classifier = nn.Dense(width, words)

    def construct(self, sound: Tensor) -> Tensor:
        """Logits; `sound` is (B, T, features)."""
        x = self.dropout(self.subsampling(sound) * math.sqrt(self.width))
        table = distances(x.shape[1], self.width)
        for block in self.blocks:
            x = block(x, table)
        return self.classifier(ops.mean(x, 1))


def build() -> nn.Cell:
    """The network."""
    return Conformer()
