import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer

from .text import PAD, VOCAB


class RMSNorm(nn.Cell):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.scale = Parameter(initializer("ones", (dim,)), name="scale")
        self.eps = eps

    def construct(self, x):
        return x * ops.rsqrt((x * x).mean(-1, True) + self.eps) * self.scale


class Block(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.n1, self.n2 = RMSNorm(dim), RMSNorm(dim)
        self.qkv = nn.Dense(dim, 3 * dim, has_bias=False)
        self.proj = nn.Dense(dim, dim, has_bias=False)
        self.up = nn.Dense(dim, 2 * dim)
        self.down = nn.Dense(2 * dim, dim)
        self.drop = nn.Dropout(p=0.05)

    def construct(self, x, bias):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(b, t, 3, self.heads, self.hd).transpose(2, 0, 3, 1, 4)
        att = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) * self.hd**-0.5 + bias, axis=-1)
        y = ops.matmul(att, v).swapaxes(1, 2).reshape(b, t, d)
        x = x + self.drop(self.proj(y))
        return x + self.drop(self.down(ops.relu(self.up(self.n2(x)))))


class TinyLM(nn.Cell):
    def __init__(self, length, dim=32, heads=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim, embedding_table=Normal(0.1))
        self.pos = Parameter(initializer(Normal(0.1), (length, dim)), name="pos")
        self.block = Block(dim, heads)
        self.norm = RMSNorm(dim)
        causal = np.triu(np.full((length, length), -1e9, np.float32), 1)
        self.causal = Tensor(causal[None, None])

    def construct(self, ids):
        # queries on the padding still see position 0, so no row is masked completely
        pad = (ids == PAD).astype(self.causal.dtype)[:, None, None, :] * -1e9
        h = self.block(self.tok(ids) + self.pos, ops.maximum(self.causal + pad, Tensor(-1e9)))
        # output projection is the embedding table itself
        return ops.matmul(self.norm(h), self.tok.embedding_table.T)
