"""Dropout of the same share at another place: found where it makes a difference, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Cause

NETS = """
import math
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.qkv, self.out, self.last = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 16)
        self.drop, self.way = nn.Dropout(0.2), (way,)

    def forward(self, x):
        way = self.way[0]
        q, k, v = (part.unflatten(-1, (2, 8)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if way == "fused":
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.2 if self.training else 0.0)
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(8)
            scores = self.drop(scores) if way == "scores" else scores  # expect: scores
            probs = torch.softmax(scores, -1)
            y = (probs if way == "scores" else self.drop(probs)) @ v
        y = self.out(y.transpose(1, 2).flatten(2))
        if way == "sum":
            x = self.drop(x + y)  # expect: sum
        else:
            x = x + self.drop(y)
        if way == "before":
            return self.last(self.drop(x).relu())
        if way == "turned":
            return self.last(self.drop(x.transpose(0, 1)).relu().transpose(0, 1))
        return self.last(self.drop(x.relu()))


class Net(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.stem, self.block, self.head = nn.Linear(16, 16), Block(way), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.block(self.stem(x))[:, 0])


def net(way=""):
    return Net(way)
"""


def _lines(folder: Path, bench: str, port: str) -> list[int | None]:
    (folder / "nets.py").write_text(NETS)
    found = trueline.pair(
        "nets:net",
        "nets:net",
        "3x5x16",
        bench_kwargs={"way": bench},
        port_kwargs={"way": port},
        folder=folder,
        steps=0,
    )
    assert all(blame.cause is Cause.DROPOUT and blame.confirmed and blame.module == "block" for blame in found.blames)
    return [blame.line.line if blame.line else None for blame in found.blames]


def _marked(mark: str) -> int:
    return next(number for number, line in enumerate(NETS.splitlines(), 1) if f"# expect: {mark}" in line)


@pytest.mark.parametrize("bench", ["", "fused"])
def test_scores_instead_of_probabilities(tmp_path: Path, bench: str) -> None:
    assert _lines(tmp_path, bench, "scores") == [_marked("scores")]


def test_a_sum_instead_of_one_of_its_operands(tmp_path: Path) -> None:
    assert _lines(tmp_path, "", "sum") == [_marked("sum")]


@pytest.mark.parametrize("port", ["before", "turned", "fused"])
def test_what_comes_to_the_same(tmp_path: Path, port: str) -> None:
    assert _lines(tmp_path, "", port) == []
