"""A small T5 (Raffel et al. 2020, version 1.1 with a gated GELU), in torch."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    """Divides by the root of the mean square; takes no mean off."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def bucket(distance: torch.Tensor, both: bool, buckets: int, farthest: int) -> torch.Tensor:
    """The bucket of each distance (key minus query): exact when near, in logarithmic steps when far."""
    result = torch.zeros_like(distance)
    if both:
        buckets //= 2
        result = result + (distance > 0).long() * buckets
        distance = distance.abs()
    else:
        distance = (-distance).clamp(min=0)
    exact = buckets // 2
    far = torch.log(distance.clamp(min=1).float() / exact) / math.log(farthest / exact) * (buckets - exact)
    far = (exact + far.long()).clamp(max=buckets - 1)
    return result + torch.where(distance < exact, distance, far)


class Attention(nn.Module):
    """Attention whose scores are not scaled; the first of a stack owns the bias by distance."""

    def __init__(self, width: int, heads: int, each: int, biased: bool, both: bool) -> None:
        super().__init__()
        self.heads, self.each, self.biased, self.both = heads, each, biased, both
        self.q = nn.Linear(width, heads * each, bias=False)
        self.k = nn.Linear(width, heads * each, bias=False)
        self.v = nn.Linear(width, heads * each, bias=False)
        self.o = nn.Linear(heads * each, width, bias=False)
        if biased:
            self.relative_attention_bias = nn.Embedding(8, heads)
        self.dropout = nn.Dropout(0.1)

    def position_bias(self, queries: int, keys: int) -> torch.Tensor:
        """(1, heads, queries, keys)."""
        distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
        table = self.relative_attention_bias(bucket(distance, self.both, 8, 20))
        return table.permute(2, 0, 1).unsqueeze(0)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """(B, heads, T, each)."""
        return x.view(x.shape[0], x.shape[1], self.heads, self.each).transpose(1, 2)

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor, bias: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """What was attended to, and the bias for the next layer."""
        q, k, v = self.split(self.q(x)), self.split(self.k(source)), self.split(self.v(source))
        scores = q @ k.transpose(-2, -1)
        if bias is None and self.biased:
            bias = self.position_bias(x.shape[1], source.shape[1])
        if bias is not None:
            scores = scores + bias
        weights = self.dropout(torch.softmax(scores.masked_fill(mask, -1e9), dim=-1))
        y = (weights @ v).transpose(1, 2).flatten(2)
        return self.o(y), bias


class GatedFeedForward(nn.Module):
    """One layer through GELU gates the other."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.wi_0 = nn.Linear(width, hidden, bias=False)
        self.wi_1 = nn.Linear(width, hidden, bias=False)
        self.wo = nn.Linear(hidden, width, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        return self.wo(self.dropout(F.gelu(self.wi_0(x), approximate="tanh") * self.wi_1(x)))


class Block(nn.Module):
    """Attention to itself, in a decoder to the source too, feed forward; each after its norm."""

    def __init__(self, width: int, heads: int, each: int, hidden: int, decoder: bool, first: bool) -> None:
        super().__init__()
        self.decoder = decoder
        self.self_norm = RMSNorm(width)
        self.self_attention = Attention(width, heads, each, biased=first, both=not decoder)
        if decoder:
            self.cross_norm = RMSNorm(width)
            self.cross_attention = Attention(width, heads, each, biased=False, both=True)
        self.ff_norm = RMSNorm(width)
        self.ff = GatedFeedForward(width, hidden)
        self.dropout = nn.Dropout(0.1)

    def forward(
        self,
        x: torch.Tensor,
        mask: torch.Tensor,
        bias: torch.Tensor | None,
        memory: torch.Tensor | None,
        memory_mask: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The same shape, and the bias for the next block."""
        normed = self.self_norm(x)
        y, bias = self.self_attention(normed, normed, mask, bias)
        x = x + self.dropout(y)
        if self.decoder:
            y, _ = self.cross_attention(self.cross_norm(x), memory, memory_mask, None)
            x = x + self.dropout(y)
        return x + self.dropout(self.ff(self.ff_norm(x))), bias


class Stack(nn.Module):
    """Blocks that share one bias, and a last norm."""

    def __init__(self, width: int, heads: int, each: int, hidden: int, depth: int, decoder: bool) -> None:
        super().__init__()
        blocks = [Block(width, heads, each, hidden, decoder, first=i == 0) for i in range(depth)]
        self.block = nn.ModuleList(blocks)
        self.final_layer_norm = RMSNorm(width)
        self.dropout = nn.Dropout(0.1)

    def forward(
        self,
        x: torch.Tensor,
        mask: torch.Tensor,
        memory: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The same shape."""
        x = self.dropout(x)
        bias = None
        for block in self.block:
            x, bias = block(x, mask, bias, memory, memory_mask)
        return self.dropout(self.final_layer_norm(x))


class T5(nn.Module):
    """Encoder and decoder over one embedding, which is the head's weight too."""

    def __init__(self, vocab: int = 48, width: int = 24, heads: int = 3, each: int = 8, hidden: int = 40) -> None:
        super().__init__()
        self.width, self.each = width, each
        self.shared = nn.Embedding(vocab, width)
        self.encoder = Stack(width, heads, each, hidden, 2, decoder=False)
        self.decoder = Stack(width, heads, each, hidden, 2, decoder=True)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.lm_head.weight = self.shared.weight
        self.reset()

    def reset(self) -> None:
        """The first weights of the paper's code."""
        nn.init.normal_(self.shared.weight, std=1.0)
        for name, param in self.named_parameters():
            if name.endswith(".q.weight"):
                nn.init.normal_(param, std=(self.width * self.each) ** -0.5)
            elif name.endswith("relative_attention_bias.weight"):
                nn.init.normal_(param, std=self.width**-0.5)
            elif param.ndim == 2 and name != "shared.weight":
                nn.init.normal_(param, std=param.shape[1] ** -0.5)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Logits of each next token; token 0 of the source is padding."""
        padding = (source == 0)[:, None, None, :]
        length = target.shape[1]
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        memory = self.encoder(self.shared(source), padding)
        out = self.decoder(self.shared(target), future, memory, padding)
        return self.lm_head(out * self.width**-0.5)


def build() -> nn.Module:
    """The network."""
    return T5()
