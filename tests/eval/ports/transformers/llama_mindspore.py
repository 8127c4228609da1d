"""A decoder of LLaMA: rotary embeddings, shared keys, SwiGLU, in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer


class RMSNorm(nn.Cell):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = Parameter(initializer("ones", (dim,)))
        self.eps = eps

    def construct(self, x):
        variance = x.pow(2).mean(-1, keep_dims=True)
        return self.weight * (x * ops.rsqrt(variance + self.eps))


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return ops.cat((-x2, x1), axis=-1)


def repeat_kv(x, n):
    b, h, t, d = x.shape
    x = ops.broadcast_to(x[:, :, None, :, :], (b, h, n, t, d))
    return x.reshape(b, h * n, t, d)


class Attention(nn.Cell):
    def __init__(self, dim, heads, kv):
        super().__init__()
        self.heads, self.kv, self.hd = heads, kv, dim // heads
        self.q_proj = nn.Dense(dim, dim, has_bias=False)
        self.k_proj = nn.Dense(dim, kv * self.hd, has_bias=False)
        self.v_proj = nn.Dense(dim, kv * self.hd, has_bias=False)
        self.o_proj = nn.Dense(dim, dim, has_bias=False)

    def construct(self, x, cos, sin, mask):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.hd).swapaxes(1, 2)
        k = self.k_proj(x).view(b, t, self.kv, self.hd).swapaxes(1, 2)
        v = self.v_proj(x).view(b, t, self.kv, self.hd).swapaxes(1, 2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, self.heads // self.kv), repeat_kv(v, self.heads // self.kv)
        scores = ops.matmul(q, k.swapaxes(2, 3)) * self.hd**-0.5
        scores = scores + mask
        probs = ops.softmax(scores, axis=-1)
        out = ops.matmul(probs, v).swapaxes(1, 2).reshape(b, t, -1)
        return self.o_proj(out)


class MLP(nn.Cell):
    def __init__(self, dim, inner):
        super().__init__()
        self.gate_proj = nn.Dense(dim, inner, has_bias=False)
        self.up_proj = nn.Dense(dim, inner, has_bias=False)
        self.down_proj = nn.Dense(inner, dim, has_bias=False)

    def construct(self, x):
        return self.down_proj(ops.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Cell):
    def __init__(self, dim, heads, kv):
        super().__init__()
        self.self_attn = Attention(dim, heads, kv)
        self.mlp = MLP(dim, 48)
        self.input_layernorm = RMSNorm(dim)
        self.post_attention_layernorm = RMSNorm(dim)

    def construct(self, x, cos, sin, mask):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Cell):
    def __init__(self, vocab=50, dim=32, heads=4, kv=2, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.layers = nn.CellList([Layer(dim, heads, kv) for _ in range(layers)])
        self.norm = RMSNorm(dim)
        self.lm_head = nn.Dense(dim, vocab, has_bias=False)
        hd = dim // heads
        self.inv_freq = Tensor(1.0 / (10000 ** (np.arange(0, hd, 2).astype(np.float32) / hd)), ms.float32)

    def construct(self, ids):
        t = ids.shape[1]
        pos = ops.arange(t).astype(ms.float32)
        freqs = ops.outer(pos, self.inv_freq)
        emb = ops.cat((freqs, freqs), axis=-1)
        cos, sin = ops.cos(emb), ops.sin(emb)
        mask = ops.triu(ops.full((t, t), float("-inf")), diagonal=1)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.lm_head(self.norm(x))


def build():
    return Llama()
