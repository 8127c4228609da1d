"""torch.nn's own transformer layers: an encoder that predicts tokens, and an encoder with a decoder."""

from __future__ import annotations

import torch
from torch import nn

VOCAB, LENGTH, DIM = 40, 12, 16


class TokenModel(nn.Module):
    def __init__(self, norm_first: bool = False) -> None:
        super().__init__()
        self.wte = nn.Embedding(VOCAB, DIM)
        self.wpe = nn.Embedding(LENGTH, DIM)
        layer = nn.TransformerEncoderLayer(
            DIM, 4, dim_feedforward=32, dropout=0.1, activation="gelu", batch_first=True, norm_first=norm_first
        )
        self.encoder = nn.TransformerEncoder(
            layer, num_layers=2, norm=nn.LayerNorm(DIM) if norm_first else None, enable_nested_tensor=False
        )
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.lm_head(self.encoder(self.wte(tokens) + self.wpe(positions)))


class Translator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.src_embed = nn.Embedding(VOCAB, DIM)
        self.tgt_embed = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(torch.randn(LENGTH, DIM) * 0.02)
        self.transformer = nn.Transformer(DIM, 4, 1, 1, dim_feedforward=32, dropout=0.1, batch_first=True)
        self.generator = nn.Linear(DIM, VOCAB)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        source = self.src_embed(source) + self.pos[: source.shape[1]]
        target = self.tgt_embed(target) + self.pos[: target.shape[1]]
        return self.generator(self.transformer(source, target))


class CrossAttention(nn.Module):
    """nn.MultiheadAttention by itself, with keys and values of another width."""

    def __init__(self) -> None:
        super().__init__()
        self.query_embed = nn.Parameter(torch.randn(1, 6, DIM))
        self.attn = nn.MultiheadAttention(DIM, 4, batch_first=True, kdim=8, vdim=8)
        self.ln = nn.LayerNorm(DIM)
        self.proj = nn.Linear(DIM, 4)

    def forward(self, memory: torch.Tensor) -> torch.Tensor:
        query = self.query_embed.expand(memory.shape[0], -1, -1)
        return self.proj(self.ln(query + self.attn(query, memory, memory)[0]))


def build() -> nn.Module:
    """An encoder that normalises after each part; head without a bias, of the token embedding's shape."""
    return TokenModel()


def build_norm_first() -> nn.Module:
    """An encoder that normalises before each part, with a last norm of its own."""
    return TokenModel(norm_first=True)


def build_translator() -> nn.Module:
    """nn.Transformer: encoder and decoder."""
    return Translator()


def build_cross_attention() -> nn.Module:
    """q_proj_weight, k_proj_weight and v_proj_weight in place of in_proj_weight."""
    return CrossAttention()
