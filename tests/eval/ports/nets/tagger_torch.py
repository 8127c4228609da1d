"""The tagger's port to torch."""

from __future__ import annotations

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab: int = 30, embed: int = 12, hidden: int = 16, tags: int = 5) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, embed)
        self.rnn = nn.LSTM(embed, hidden, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
        self.norm = nn.LayerNorm(2 * hidden)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, tags)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        x, _ = self.rnn(x)
        x = self.drop(self.norm(x))
        x = torch.tanh(self.fc(x))
        return self.out(x)


def build() -> nn.Module:
    return Tagger()
