"""A diffusion transformer with adaptive norms, in MindSpore."""

import math

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer


def timestep_embedding(t, dim, flip_sin_to_cos=True, downscale_freq_shift=0.0):
    half = dim // 2
    exponent = -math.log(10000) * ops.arange(half).astype(ms.float32) / (half - downscale_freq_shift)
    emb = t[:, None].astype(ms.float32) * ops.exp(exponent)[None, :]
    emb = ops.cat([ops.sin(emb), ops.cos(emb)], axis=-1)
    if flip_sin_to_cos:
        emb = ops.cat([emb[:, half:], emb[:, :half]], axis=-1)
    return emb


def modulate(x, shift, scale):
    return x * (1 + scale.expand_dims(1)) + shift.expand_dims(1)


class TimeEmbed(nn.Cell):
    def __init__(self, dim, freq=16):
        super().__init__()
        self.freq = freq
        self.linear_1 = nn.Dense(freq, dim)
        self.act = nn.SiLU()
        self.linear_2 = nn.Dense(dim, dim)

    def construct(self, t):
        return self.linear_2(self.act(self.linear_1(timestep_embedding(t, self.freq))))


class Attention(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Dense(dim, 3 * dim)
        self.proj = nn.Dense(dim, dim)

    def construct(self, x):
        b, n, c = x.shape
        q, k, v = ops.unbind(self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4), 0)
        att = ops.matmul(q, k.swapaxes(-1, -2)) * (c // self.heads) ** -0.5
        out = ops.matmul(ops.softmax(att, axis=-1), v)
        return self.proj(out.swapaxes(1, 2).reshape(b, n, c))


class DiTBlock(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-6)
        for norm in (self.norm1, self.norm2):
            norm.gamma.requires_grad = False
            norm.beta.requires_grad = False
        self.fc1 = nn.Dense(dim, 4 * dim)
        self.act = nn.GELU(approximate=True)
        self.fc2 = nn.Dense(4 * dim, dim)
        self.adaLN_modulation = nn.SequentialCell(nn.SiLU(), nn.Dense(dim, 6 * dim))

    def construct(self, x, c):
        shift_msa, scale_msa, gate_msa, shift_mlp, scale_mlp, gate_mlp = ops.chunk(self.adaLN_modulation(c), 6, axis=1)
        x = x + gate_msa.expand_dims(1) * self.attn(modulate(self.norm1(x), shift_msa, scale_msa))
        h = self.fc2(self.act(self.fc1(modulate(self.norm2(x), shift_mlp, scale_mlp))))
        return x + gate_mlp.expand_dims(1) * h


class DiT(nn.Cell):
    def __init__(self, dim=32, heads=4, layers=2, patch=2, size=8, channels=4):
        super().__init__()
        self.patch, self.channels = patch, channels
        self.x_embedder = nn.Conv2d(channels, dim, patch, patch, pad_mode="valid", has_bias=True)
        self.t_embedder = TimeEmbed(dim)
        self.y_embedder = nn.Embedding(11, dim, embedding_table=Normal(1.0))
        self.pos_embed = Parameter(initializer(Normal(0.02), (1, (size // patch) ** 2, dim)), requires_grad=False)
        self.blocks = nn.CellList([DiTBlock(dim, heads) for _ in range(layers)])
        self.norm_final = nn.LayerNorm((dim,), epsilon=1e-6)
        self.norm_final.gamma.requires_grad = False
        self.norm_final.beta.requires_grad = False
        self.linear = nn.Dense(dim, patch * patch * channels)
        self.adaLN_modulation = nn.SequentialCell(nn.SiLU(), nn.Dense(dim, 2 * dim))

    def unpatchify(self, x):
        h = w = int(x.shape[1] ** 0.5)
        x = x.reshape(x.shape[0], h, w, self.patch, self.patch, self.channels)
        x = x.transpose(0, 5, 1, 3, 2, 4)
        return x.reshape(x.shape[0], self.channels, h * self.patch, w * self.patch)

    def construct(self, x, t, y):
        x = self.x_embedder(x)
        x = x.reshape(x.shape[0], x.shape[1], -1).swapaxes(1, 2) + self.pos_embed
        c = self.t_embedder(t) + self.y_embedder(y)
        for block in self.blocks:
            x = block(x, c)
        shift, scale = ops.chunk(self.adaLN_modulation(c), 2, axis=1)
        x = self.linear(modulate(self.norm_final(x), shift, scale))
        return self.unpatchify(x)


def build():
    return DiT()
