"""T5: relative position bias, encoder and decoder, in MindSpore."""

import math

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer


class LayerNorm(nn.Cell):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = Parameter(initializer("ones", (dim,)))
        self.eps = eps

    def construct(self, x):
        return self.weight * (x * ops.rsqrt(x.pow(2).mean(-1, keep_dims=True) + self.eps))


def bucket(relative, bidirectional=True, num=8, most=16):
    found = 0
    if bidirectional:
        num //= 2
        found = found + (relative > 0).astype(ms.int64) * num
        relative = ops.abs(relative)
    else:
        relative = -ops.minimum(relative, ops.zeros_like(relative))
    exact = num // 2
    small = relative < exact
    large = exact + (ops.log(relative.astype(ms.float32) / exact) / math.log(most / exact) * (num - exact)).astype(
        ms.int64
    )
    large = ops.minimum(large, ops.full_like(large, num - 1))
    return found + ops.where(small, relative, large)


class Attention(nn.Cell):
    def __init__(self, dim, heads, has_bias=False, decoder=False):
        super().__init__()
        self.heads, self.decoder = heads, decoder
        self.q = nn.Dense(dim, dim, has_bias=False)
        self.k = nn.Dense(dim, dim, has_bias=False)
        self.v = nn.Dense(dim, dim, has_bias=False)
        self.o = nn.Dense(dim, dim, has_bias=False)
        if has_bias:
            self.relative_attention_bias = nn.Embedding(8, heads, embedding_table=Normal(1.0))

    def bias(self, q, k):
        context = ops.arange(q)[:, None]
        memory = ops.arange(k)[None, :]
        values = self.relative_attention_bias(bucket(memory - context, not self.decoder))
        return values.permute(2, 0, 1).unsqueeze(0)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).swapaxes(1, 2)

    def construct(self, x, memory=None, bias=None):
        memory = x if memory is None else memory
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        scores = ops.matmul(q, k.swapaxes(3, 2))
        if bias is not None:
            scores = scores + bias
        weights = ops.softmax(scores.astype(ms.float32), axis=-1).astype(scores.dtype)
        out = ops.matmul(weights, v).swapaxes(1, 2)
        return self.o(out.reshape(out.shape[0], out.shape[1], -1))


class FF(nn.Cell):
    def __init__(self, dim):
        super().__init__()
        self.wi_0 = nn.Dense(dim, 2 * dim, has_bias=False)
        self.wi_1 = nn.Dense(dim, 2 * dim, has_bias=False)
        self.wo = nn.Dense(2 * dim, dim, has_bias=False)

    def construct(self, x):
        return self.wo(ops.gelu(self.wi_0(x), approximate="tanh") * self.wi_1(x))


class Layer(nn.Cell):
    def __init__(self, dim, heads, has_bias, decoder):
        super().__init__()
        self.norm1 = LayerNorm(dim)
        self.attn = Attention(dim, heads, has_bias, decoder)
        if decoder:
            self.norm2 = LayerNorm(dim)
            self.cross = Attention(dim, heads)
        self.norm3 = LayerNorm(dim)
        self.ff = FF(dim)
        self.decoder = decoder

    def construct(self, x, bias, memory=None, memory_mask=None):
        x = x + self.attn(self.norm1(x), None, bias)
        if self.decoder:
            x = x + self.cross(self.norm2(x), memory, memory_mask)
        return x + self.ff(self.norm3(x))


class Stack(nn.Cell):
    def __init__(self, dim, heads, decoder):
        super().__init__()
        self.decoder = decoder
        self.block = nn.CellList([Layer(dim, heads, i == 0, decoder) for i in range(2)])
        self.final_layer_norm = LayerNorm(dim)

    def construct(self, x, mask, memory=None, memory_mask=None):
        bias = self.block[0].attn.bias(x.shape[1], x.shape[1]) + mask
        for layer in self.block:
            x = layer(x, bias, memory, memory_mask)
        return self.final_layer_norm(x)


class T5(nn.Cell):
    def __init__(self, vocab=40, dim=32, heads=4):
        super().__init__()
        self.dim = dim
        self.shared = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.encoder = Stack(dim, heads, False)
        self.decoder = Stack(dim, heads, True)
        self.lm_head = nn.Dense(dim, vocab, has_bias=False)
        self.lm_head.weight = self.shared.embedding_table

    def construct(self, ids, mask, decoder_ids):
        extended = (1.0 - mask[:, None, None, :].astype(ms.float32)) * -1e9
        memory = self.encoder(self.shared(ids), extended)
        t = decoder_ids.shape[1]
        causal = ops.tril(ops.ones((t, t)))
        causal = (1.0 - causal[None, None]) * -1e9
        x = self.decoder(self.shared(decoder_ids), causal, memory, extended)
        x = x * (self.dim**-0.5)
        return self.lm_head(x)


def build():
    return T5()
