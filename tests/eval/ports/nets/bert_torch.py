"""A small BERT (Devlin et al. 2018) in torch: padding mask, a word head tied to the embedding, a pooled head."""

from __future__ import annotations

import math

import torch
from torch import nn

VOCAB, LENGTH, DIM, HEADS = 40, 16, 32, 4


class Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(VOCAB, DIM)
        self.position = nn.Embedding(LENGTH, DIM)
        self.norm = nn.LayerNorm(DIM, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1])
        return self.dropout(self.norm(self.word(tokens) + self.position(places)))


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        self.dense = nn.Linear(DIM, DIM)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        def heads(y: torch.Tensor) -> torch.Tensor:
            return y.view(*y.shape[:2], HEADS, DIM // HEADS).transpose(1, 2)

        scores = heads(self.query(x)) @ heads(self.key(x)).transpose(-1, -2) / math.sqrt(DIM // HEADS)
        weights = torch.softmax(scores + mask, dim=-1)
        return self.dense((weights @ heads(self.value(x))).transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = SelfAttention()
        self.norm1 = nn.LayerNorm(DIM, eps=1e-12)
        self.intermediate = nn.Linear(DIM, 2 * DIM)
        self.output = nn.Linear(2 * DIM, DIM)
        self.norm2 = nn.LayerNorm(DIM, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        out = self.output(nn.functional.gelu(self.intermediate(x)))
        return self.norm2(x + self.dropout(out))


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.pooler = nn.Linear(DIM, DIM)
        self.classifier = nn.Linear(DIM, 2)
        self.transform = nn.Linear(DIM, DIM)
        self.norm = nn.LayerNorm(DIM, eps=1e-12)
        self.decoder = nn.Linear(DIM, VOCAB)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
        self.decoder.weight = self.embeddings.word.weight

    def forward(self, tokens: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mask = (1.0 - seen[:, None, None, :].float()) * -10000.0
        x = self.embeddings(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        words = self.decoder(self.norm(nn.functional.gelu(self.transform(x))))
        return words, self.classifier(torch.tanh(self.pooler(x[:, 0])))


def build() -> nn.Module:
    return Bert()
