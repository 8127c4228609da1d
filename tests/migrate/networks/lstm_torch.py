"""A text classifier in PyTorch: embedding, bidirectional two-layer LSTM or GRU, dense layers."""

from __future__ import annotations

import torch
from torch import nn


class TextClassifier(nn.Module):
    def __init__(self, cell: str = "lstm", vocab: int = 40, embed: int = 12, hidden: int = 10) -> None:
        super().__init__()
        recurrent = nn.LSTM if cell == "lstm" else nn.GRU
        self.embedding = nn.Embedding(vocab, embed, padding_idx=0)
        self.rnn = recurrent(embed, hidden, num_layers=2, bidirectional=True, batch_first=True, dropout=0.3)
        self.norm = nn.LayerNorm(2 * hidden)
        self.fc = nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, 3)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, last = self.rnn(self.embedding(tokens))
        hidden = last[0] if isinstance(last, tuple) else last
        both = torch.cat((hidden[-2], hidden[-1]), dim=1) + states.mean(dim=1)
        return self.out(torch.tanh(self.fc(self.norm(both))))


class Tagger(nn.Module):
    """One LSTM over another, each of one direction and without an embedding: labels for a row of measurements."""

    def __init__(self, features: int = 6, hidden: int = 8) -> None:
        super().__init__()
        self.encoder = nn.LSTM(features, hidden, batch_first=True)
        self.decoder = nn.LSTM(hidden, hidden, batch_first=True, bias=False)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 4, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.encoder(x)
        x, _ = self.decoder(x)
        return self.head(x)


def build() -> nn.Module:
    """Bidirectional two-layer LSTM."""
    return TextClassifier()


def build_gru() -> nn.Module:
    """Bidirectional two-layer GRU."""
    return TextClassifier("gru")


def build_tagger() -> nn.Module:
    """Two LSTMs of one direction, the second without biases."""
    return Tagger()
