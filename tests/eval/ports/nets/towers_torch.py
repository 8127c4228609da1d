"""A picture and a sentence, each through a tower of its own, put side by side for one answer; in torch."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class ImageTower(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.pool = nn.AvgPool2d(3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=2, dilation=2)
        self.fc = nn.Linear(16, dim)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.pool(F.relu6(self.conv1(images)))
        x = F.relu6(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


class TextTower(nn.Module):
    def __init__(self, vocab: int, dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.fc = nn.Linear(dim, dim)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        _, last = self.gru(self.embedding(tokens))
        return self.fc(last[-1])


class TwoTowers(nn.Module):
    def __init__(self, vocab: int = 30, dim: int = 16, answers: int = 6) -> None:
        super().__init__()
        self.image = ImageTower(dim)
        self.text = TextTower(vocab, dim)
        self.fuse = nn.Linear(3 * dim, 32)
        self.dropout = nn.Dropout(0.25)
        self.answer = nn.Linear(32, answers)

    def forward(self, images: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        image = F.normalize(self.image(images), dim=-1)
        text = F.normalize(self.text(tokens), dim=-1)
        both = torch.cat([image, text, image * text], dim=-1)
        return self.answer(self.dropout(F.silu(self.fuse(both))))


def build() -> nn.Module:
    return TwoTowers()
