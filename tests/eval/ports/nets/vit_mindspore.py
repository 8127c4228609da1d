"""The vision transformer's port to MindSpore."""

from __future__ import annotations

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer


class Attention(nn.Cell):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Dense(dim, 3 * dim)
        self.out = nn.Dense(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, x: Tensor) -> Tensor:
        batch, tokens, dim = x.shape
        qkv = ops.reshape(self.qkv(x), (batch, tokens, 3, self.heads, dim // self.heads))
        qkv = ops.transpose(qkv, (2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * self.scale
        out = ops.matmul(self.softmax(scores), v)
        out = ops.transpose(out, (0, 2, 1, 3))
        return self.out(ops.reshape(out, (batch, tokens, dim)))


class FeedForward(nn.Cell):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.dense1 = nn.Dense(dim, hidden)
        self.act = nn.GELU(approximate=False)
        self.dense2 = nn.Dense(hidden, dim)

    def construct(self, x: Tensor) -> Tensor:
        return self.dense2(self.act(self.dense1(x)))


class Block(nn.Cell):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.ffn = FeedForward(dim, 2 * dim)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class VisionTransformer(nn.Cell):
    def __init__(self, dim: int = 32, depth: int = 2, heads: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 8, 8, pad_mode="valid", has_bias=True)
        self.cls_token = Parameter(initializer("zeros", (1, 1, dim), ms.float32))
        self.pos_embed = Parameter(initializer(Normal(0.02), (1, 17, dim), ms.float32))
        self.dropout = nn.Dropout(p=0.1)
        self.blocks = nn.SequentialCell([Block(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm((dim,), epsilon=1e-6)
        self.head = nn.Dense(dim, classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x)
        x = ops.transpose(ops.reshape(x, (x.shape[0], x.shape[1], -1)), (0, 2, 1))
        token = ops.broadcast_to(self.cls_token, (x.shape[0], 1, x.shape[2]))
        x = ops.concat((token, x), axis=1)
        x = self.dropout(x + self.pos_embed)
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


def build() -> nn.Cell:
    return VisionTransformer()
