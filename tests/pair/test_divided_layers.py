"""Layers that one side has in one piece and the other in several carry each other's weights."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Cause, Stage
from trueline.pair.pairing import Paired

_FUSED = """
import torch
from torch import nn


class Conv1D(nn.Module):
    # As GPT-2 has it: the other way round than a linear layer.
    def __init__(self, out, inner):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inner, out) * 0.2)
        self.bias = nn.Parameter(torch.randn(out) * 0.1)

    def forward(self, x):
        return x @ self.weight + self.bias


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = Conv1D(3 * width, width)
        self.proj = Conv1D(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = torch.softmax(q @ k.transpose(1, 2) * q.shape[-1] ** -0.5, -1)
        return x + self.proj(scores @ v)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(8), Block(8)])
        self.up = Conv1D(12, 8)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.up(x)
"""
_SPLIT = """
from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, width, scale):
        super().__init__()
        self.scale = scale
        # Defined in another order than the fused layer has them.
        self.v = nn.Dense(width, width)
        self.k = nn.Dense(width, width)
        self.q = nn.Dense(width, width)
        self.out = nn.Dense(width, width)

    def construct(self, x):
        scores = ops.softmax(ops.matmul(self.q(x), self.k(x).swapaxes(1, 2)) * self.scale, -1)  # scale
        return x + self.out(ops.matmul(scores, self.v(x)))


class Net(nn.Cell):
    def __init__(self, scale=8**-0.5):
        super().__init__()
        self.layers = nn.CellList([Block(8, scale), Block(8, scale)])
        self.up = nn.Dense(8, 12)

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.up(x)
"""


def paired(folder: Path, bench: str, port: str, **kwargs: object) -> Paired:
    (folder / "fused.py").write_text(_FUSED)
    (folder / "split.py").write_text(_SPLIT)
    return trueline.pair(f"{bench}:Net", f"{port}:Net", "2x5x8", folder=folder, steps=0, **kwargs)


@pytest.mark.parametrize(("bench", "port"), [("fused", "split"), ("split", "fused")])
def test_a_fused_layer_and_its_pieces_are_the_same(tmp_path: Path, bench: str, port: str) -> None:
    answer = paired(tmp_path, bench, port)

    assert [blame.message.text() for blame in answer.blames if blame.stage is not Stage.INITIAL] == []
    assert len(answer.aligned.pieces) == 4
    assert not answer.aligned.only_bench and not answer.aligned.only_port


def test_a_fault_beside_them_is_still_found(tmp_path: Path) -> None:
    answer = paired(tmp_path, "fused", "split", port_kwargs={"scale": 0.125})
    found = [blame for blame in answer.blames if blame.stage is not Stage.INITIAL]

    (line,) = (number for number, text in enumerate(_SPLIT.splitlines(), 1) if "# scale" in text)
    assert [(blame.cause, blame.confirmed, blame.line and blame.line.line) for blame in found] == [
        (Cause.SCALE, True, line)
    ]


def test_a_piece_is_not_held_against_the_whole(tmp_path: Path) -> None:
    answer = paired(tmp_path, "split", "fused", bench_kwargs={"scale": 0.125})

    assert {blame.module for blame in answer.blames if blame.stage is not Stage.INITIAL} == {"blocks.0"}
    assert all(blame.confirmed for blame in answer.blames)
