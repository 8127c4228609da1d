"""A diffusion transformer with adaptive norms, in PyTorch."""

import math

import torch
from torch import nn


def timestep_embedding(t, dim, flip_sin_to_cos=True, downscale_freq_shift=0.0):
    half = dim // 2
    exponent = -math.log(10000) * torch.arange(half, dtype=torch.float32) / (half - downscale_freq_shift)
    emb = t[:, None].float() * torch.exp(exponent)[None, :]
    emb = torch.cat([torch.sin(emb), torch.cos(emb)], dim=-1)
    if flip_sin_to_cos:
        emb = torch.cat([emb[:, half:], emb[:, :half]], dim=-1)
    return emb


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class TimeEmbed(nn.Module):
    def __init__(self, dim, freq=16):
        super().__init__()
        self.freq = freq
        self.linear_1 = nn.Linear(freq, dim)
        self.act = nn.SiLU()
        self.linear_2 = nn.Linear(dim, dim)

    def forward(self, t):
        return self.linear_2(self.act(self.linear_1(timestep_embedding(t, self.freq))))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        att = torch.einsum("bhid,bhjd->bhij", q, k) * (c // self.heads) ** -0.5
        out = torch.einsum("bhij,bhjd->bhid", att.softmax(-1), v)
        return self.proj(out.transpose(1, 2).reshape(b, n, c))


class DiTBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, elementwise_affine=False, eps=1e-6)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim, elementwise_affine=False, eps=1e-6)
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU(approximate="tanh")
        self.fc2 = nn.Linear(4 * dim, dim)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim))

    def forward(self, x, c):
        shift_msa, scale_msa, gate_msa, shift_mlp, scale_mlp, gate_mlp = self.adaLN_modulation(c).chunk(6, dim=1)
        x = x + gate_msa.unsqueeze(1) * self.attn(modulate(self.norm1(x), shift_msa, scale_msa))
        h = self.fc2(self.act(self.fc1(modulate(self.norm2(x), shift_mlp, scale_mlp))))
        return x + gate_mlp.unsqueeze(1) * h


class DiT(nn.Module):
    def __init__(self, dim=32, heads=4, layers=2, patch=2, size=8, channels=4):
        super().__init__()
        self.patch, self.channels = patch, channels
        self.x_embedder = nn.Conv2d(channels, dim, patch, patch)
        self.t_embedder = TimeEmbed(dim)
        self.y_embedder = nn.Embedding(11, dim)
        self.pos_embed = nn.Parameter(torch.randn(1, (size // patch) ** 2, dim) * 0.02, requires_grad=False)
        self.blocks = nn.ModuleList([DiTBlock(dim, heads) for _ in range(layers)])
        self.norm_final = nn.LayerNorm(dim, elementwise_affine=False, eps=1e-6)
        self.linear = nn.Linear(dim, patch * patch * channels)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(dim, 2 * dim))

    def unpatchify(self, x):
        h = w = int(x.shape[1] ** 0.5)
        x = x.reshape(x.shape[0], h, w, self.patch, self.patch, self.channels)
        x = torch.einsum("nhwpqc->nchpwq", x)
        return x.reshape(x.shape[0], self.channels, h * self.patch, w * self.patch)

    def forward(self, x, t, y):
        x = self.x_embedder(x).flatten(2).transpose(1, 2) + self.pos_embed
        c = self.t_embedder(t) + self.y_embedder(y)
        for block in self.blocks:
            x = block(x, c)
        shift, scale = self.adaLN_modulation(c).chunk(2, dim=1)
        x = self.linear(modulate(self.norm_final(x), shift, scale))
        return self.unpatchify(x)


def build():
    return DiT()
