"""T5: relative position bias, encoder and decoder, in PyTorch."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class LayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


def bucket(relative, bidirectional=True, num=8, most=16):
    found = 0
    if bidirectional:
        num //= 2
        found = found + (relative > 0).to(torch.long) * num
        relative = torch.abs(relative)
    else:
        relative = -torch.min(relative, torch.zeros_like(relative))
    exact = num // 2
    small = relative < exact
    large = exact + (torch.log(relative.float() / exact) / math.log(most / exact) * (num - exact)).to(torch.long)
    large = torch.min(large, torch.full_like(large, num - 1))
    return found + torch.where(small, relative, large)


class Attention(nn.Module):
    def __init__(self, dim, heads, has_bias=False, decoder=False):
        super().__init__()
        self.heads, self.decoder = heads, decoder
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, dim, bias=False)
        self.v = nn.Linear(dim, dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        if has_bias:
            self.relative_attention_bias = nn.Embedding(8, heads)

    def bias(self, q, k):
        context = torch.arange(q)[:, None]
        memory = torch.arange(k)[None, :]
        values = self.relative_attention_bias(bucket(memory - context, not self.decoder))
        return values.permute(2, 0, 1).unsqueeze(0)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory=None, bias=None):
        memory = x if memory is None else memory
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        scores = torch.matmul(q, k.transpose(3, 2))
        if bias is not None:
            scores = scores + bias
        weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous()
        return self.o(out.view(out.shape[0], out.shape[1], -1))


class FF(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.wi_0 = nn.Linear(dim, 2 * dim, bias=False)
        self.wi_1 = nn.Linear(dim, 2 * dim, bias=False)
        self.wo = nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x):
        return self.wo(F.gelu(self.wi_0(x), approximate="tanh") * self.wi_1(x))


class Layer(nn.Module):
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

    def forward(self, x, bias, memory=None, memory_mask=None):
        x = x + self.attn(self.norm1(x), None, bias)
        if self.decoder:
            x = x + self.cross(self.norm2(x), memory, memory_mask)
        return x + self.ff(self.norm3(x))


class Stack(nn.Module):
    def __init__(self, dim, heads, decoder):
        super().__init__()
        self.decoder = decoder
        self.block = nn.ModuleList(Layer(dim, heads, i == 0, decoder) for i in range(2))
        self.final_layer_norm = LayerNorm(dim)

    def forward(self, x, mask, memory=None, memory_mask=None):
        bias = self.block[0].attn.bias(x.shape[1], x.shape[1]) + mask
        for layer in self.block:
            x = layer(x, bias, memory, memory_mask)
        return self.final_layer_norm(x)


class T5(nn.Module):
    def __init__(self, vocab=40, dim=32, heads=4):
        super().__init__()
        self.dim = dim
        self.shared = nn.Embedding(vocab, dim)
        self.encoder = Stack(dim, heads, False)
        self.decoder = Stack(dim, heads, True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.shared.weight

    def forward(self, ids, mask, decoder_ids):
        extended = (1.0 - mask[:, None, None, :].float()) * -1e9
        memory = self.encoder(self.shared(ids), extended)
        t = decoder_ids.shape[1]
        causal = torch.tril(torch.ones(t, t))
        causal = (1.0 - causal[None, None]) * -1e9
        x = self.decoder(self.shared(decoder_ids), causal, memory, extended)
        x = x * (self.dim**-0.5)
        return self.lm_head(x)


def build():
    return T5()
