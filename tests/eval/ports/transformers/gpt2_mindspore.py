"""A decoder of GPT-2, in MindSpore."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class NewGELU(nn.Cell):
    def construct(self, x):
        return 0.5 * x * (1.0 + ops.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * ops.pow(x, 3.0))))


class Attention(nn.Cell):
    def __init__(self, dim, heads, drop=0.1):
        super().__init__()
        self.heads, self.dim = heads, dim
        self.c_attn = nn.Dense(dim, 3 * dim, weight_init=Normal(0.02), bias_init="zeros")
        self.c_proj = nn.Dense(dim, dim, weight_init=Normal(0.02), bias_init="zeros")
        self.resid_dropout = nn.Dropout(p=drop)
        self.bias = Tensor(np.tril(np.ones((32, 32), np.float32)).reshape(1, 1, 32, 32))

    def construct(self, x):
        b, t, c = x.shape
        q, k, v = ops.split(self.c_attn(x), self.dim, axis=2)
        q = q.view(b, t, self.heads, c // self.heads).swapaxes(1, 2)
        k = k.view(b, t, self.heads, c // self.heads).swapaxes(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).swapaxes(1, 2)
        att = ops.matmul(q, k.swapaxes(-2, -1)) * (1.0 / math.sqrt(k.shape[-1]))
        att = att.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf"))
        att = ops.softmax(att, axis=-1)
        y = ops.matmul(att, v)
        y = y.swapaxes(1, 2).reshape(b, t, c)
        return self.resid_dropout(self.c_proj(y))


class MLP(nn.Cell):
    def __init__(self, dim, drop=0.1):
        super().__init__()
        self.c_fc = nn.Dense(dim, 4 * dim, weight_init=Normal(0.02), bias_init="zeros")
        self.act = NewGELU()
        self.c_proj = nn.Dense(4 * dim, dim, weight_init=Normal(0.02), bias_init="zeros")
        self.dropout = nn.Dropout(p=drop)

    def construct(self, x):
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class Block(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.attn = Attention(dim, heads)
        self.ln_2 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.mlp = MLP(dim)

    def construct(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Cell):
    def __init__(self, vocab=50, dim=32, heads=4, layers=2, use=2):
        super().__init__()
        self.use = use
        self.wte = nn.Embedding(vocab, dim, embedding_table=Normal(0.02))
        self.wpe = nn.Embedding(32, dim, embedding_table=Normal(0.02))
        self.drop = nn.Dropout(p=0.1)
        self.h = nn.CellList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm((dim,), epsilon=1e-5)
        self.lm_head = nn.Dense(dim, vocab, has_bias=False)
        self.lm_head.weight = self.wte.embedding_table

    def construct(self, ids):
        pos = ops.arange(0, ids.shape[1], dtype=ms.int64)
        x = self.drop(self.wte(ids) + self.wpe(pos))
        for block in self.h[: self.use]:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def build():
    return GPT2()
