"""A small T5 (Raffel et al. 2020, version 1.1 with a gated GELU), in MindSpore."""

import math

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal

LONGEST = 64


def dense(cin: int, cout: int, std: float) -> nn.Cell:
    """A layer without bias."""
    return nn.Dense(cin, cout, weight_init=Normal(std), has_bias=False)


def distance_buckets(both: bool, buckets: int = 8, farthest: int = 20) -> np.ndarray:
    """The bucket of each pair of query and key: exact when near, in logarithmic steps when far."""
    distance = np.arange(LONGEST)[None, :] - np.arange(LONGEST)[:, None]
    start = np.zeros_like(distance)
    if both:
        buckets = buckets // 2
        start = np.where(distance > 0, buckets, 0)
        distance = np.abs(distance)
    else:
        distance = np.maximum(-distance, 0)
    exact = buckets // 2
    steps = np.log(np.maximum(distance, 1).astype(np.float32) / exact) / math.log(farthest / exact)
    far = np.minimum(exact + (steps * (buckets - exact)).astype(np.int64), buckets - 1)
    return (start + np.where(distance < exact, distance, far)).astype(np.int32)


class T5Norm(nn.Cell):
    """Divides by the root of the mean square; takes no mean off."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = Parameter(ops.ones((width,), ms.float32))

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        square = ops.mean(ops.square(x), -1, True)
        return x * ops.rsqrt(square + 1e-6) * self.gamma


class T5Attention(nn.Cell):
    """Attention whose scores are not scaled; the first of a stack owns the bias by distance."""

    def __init__(self, width: int, heads: int, each: int, has_bias: bool = False, both: bool = True) -> None:
        super().__init__()
        self.heads = heads
        self.each = each
        self.has_bias = has_bias
        inner = heads * each
        self.to_q = dense(width, inner, (width * each) ** -0.5)
        self.to_k = dense(width, inner, width**-0.5)
        self.to_v = dense(width, inner, width**-0.5)
        self.to_out = dense(inner, width, inner**-0.5)
        self.attn_drop = nn.Dropout(p=0.1)
        if has_bias:
            self.rel_bias = nn.Embedding(8, heads, embedding_table=Normal(width**-0.5))
            self.buckets = Tensor(distance_buckets(both))

    def heads_of(self, x: Tensor) -> Tensor:
        """(B, heads, T, each)."""
        b, t, _ = x.shape
        return x.reshape((b, t, self.heads, self.each)).transpose((0, 2, 1, 3))

    def construct(self, x: Tensor, source: Tensor, mask: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """What was attended to, and the bias for the next layer."""
        b, t, _ = x.shape
        q = self.heads_of(self.to_q(x))
        k = self.heads_of(self.to_k(source))
        v = self.heads_of(self.to_v(source))
        scores = ops.matmul(q, k.swapaxes(-2, -1))
        if bias is None and self.has_bias:
            bias = self.rel_bias(self.buckets[:t, : source.shape[1]]).transpose((2, 0, 1)).expand_dims(0)
        if bias is not None:
            scores = scores + bias
        scores = ops.masked_fill(scores, mask, -1e9)
        weights = self.attn_drop(ops.softmax(scores, -1))
        y = ops.matmul(weights, v).transpose((0, 2, 1, 3)).reshape((b, t, -1))
        return self.to_out(y), bias


class GatedMLP(nn.Cell):
    """One layer through GELU gates the other."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = dense(width, hidden, width**-0.5)
        self.up = dense(width, hidden, width**-0.5)
        self.act = nn.GELU(approximate=True)
        self.down = dense(hidden, width, hidden**-0.5)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        x = self.act(self.gate(x)) * self.up(x)
        return self.down(self.drop(x))


class EncoderLayer(nn.Cell):
    """Attention to itself and feed forward, each after its norm."""

    def __init__(self, width: int, heads: int, each: int, hidden: int, first: bool) -> None:
        super().__init__()
        self.norm1 = T5Norm(width)
        self.attn = T5Attention(width, heads, each, first, both=True)
        self.norm2 = T5Norm(width)
        self.mlp = GatedMLP(width, hidden)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor, mask: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """The same shape, and the bias for the next layer."""
        y = self.norm1(x)
        y, bias = self.attn(y, y, mask, bias)
        x = x + self.drop(y)
        return x + self.drop(self.mlp(self.norm2(x))), bias


class DecoderLayer(nn.Cell):
    """Attention to what came before, to the source, and feed forward, each after its norm."""

    def __init__(self, width: int, heads: int, each: int, hidden: int, first: bool) -> None:
        super().__init__()
        self.norm1 = T5Norm(width)
        self.attn = T5Attention(width, heads, each, first, both=False)
        self.norm_cross = T5Norm(width)
        self.cross = T5Attention(width, heads, each)
        self.norm2 = T5Norm(width)
        self.mlp = GatedMLP(width, hidden)
        self.drop = nn.Dropout(p=0.1)

    def construct(
        self, x: Tensor, mask: Tensor, bias: Tensor | None, memory: Tensor, padding: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The same shape, and the bias for the next layer."""
        y = self.norm1(x)
        y, bias = self.attn(y, y, mask, bias)
        x = x + self.drop(y)
        y, _ = self.cross(self.norm_cross(x), memory, padding, None)
        x = x + self.drop(y)
        return x + self.drop(self.mlp(self.norm2(x))), bias


class Encoder(nn.Cell):
    """Layers that share one bias, and a last norm."""

    def __init__(self, width: int, heads: int, each: int, hidden: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.CellList([EncoderLayer(width, heads, each, hidden, i == 0) for i in range(depth)])
        self.norm = T5Norm(width)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor, padding: Tensor) -> Tensor:
        """The same shape."""
        x, bias = self.drop(x), None
        for layer in self.layers:
            x, bias = layer(x, padding, bias)
        return self.drop(self.norm(x))


class Decoder(nn.Cell):
    """Layers that share one bias, and a last norm."""

    def __init__(self, width: int, heads: int, each: int, hidden: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.CellList([DecoderLayer(width, heads, each, hidden, i == 0) for i in range(depth)])
        self.norm = T5Norm(width)
        self.drop = nn.Dropout(p=0.1)
        self.future = Tensor(np.triu(np.ones((LONGEST, LONGEST), bool), 1))

    def construct(self, x: Tensor, memory: Tensor, padding: Tensor) -> Tensor:
        """The same shape."""
        t = x.shape[1]
        x, bias = self.drop(x), None
        for layer in self.layers:
            x, bias = layer(x, self.future[:t, :t], bias, memory, padding)
        return self.drop(self.norm(x))


class T5Model(nn.Cell):
    """Encoder and decoder over one embedding, which is the head's weight too."""

    def __init__(self, vocab: int = 48, width: int = 24, heads: int = 3, each: int = 8, hidden: int = 40) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, width, embedding_table=Normal(1.0))
        self.encoder = Encoder(width, heads, each, hidden, 2)
        self.decoder = Decoder(width, heads, each, hidden, 2)
        self.head = dense(width, vocab, 1.0)
        self.head.weight = self.embedding.embedding_table
        self.head_scale = width**-0.5

    def construct(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits of each next token; token 0 of the source is padding."""
        padding = (source == 0).expand_dims(1).expand_dims(1)
        memory = self.encoder(self.embedding(source), padding)
        out = self.decoder(self.embedding(target), memory, padding)
        return self.head(out * self.head_scale)


def build() -> nn.Cell:
    """The network."""
    return T5Model()
