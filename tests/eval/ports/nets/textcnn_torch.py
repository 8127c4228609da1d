"""A convolutional sentence classifier (Kim 2014) in torch."""

from __future__ import annotations

import torch
from torch import nn


class TextCNN(nn.Module):
    def __init__(self, vocab: int = 50, dim: int = 16, channels: int = 8, classes: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList([nn.Conv1d(dim, channels, size) for size in (3, 4, 5)])
        self.dropout = nn.Dropout(0.5)
        self.fc = nn.Linear(3 * channels, classes)
        self.embedding.weight.requires_grad = False

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens).transpose(1, 2)
        pooled = [torch.relu(conv(x)).amax(dim=2) for conv in self.convs]
        return self.fc(self.dropout(torch.cat(pooled, dim=1)))


def build() -> nn.Module:
    return TextCNN()
