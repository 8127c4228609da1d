"""A layer that the port builds and never uses, where the benchmark uses its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Cause

_BENCH = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.last = nn.Linear(6, 3)

    def forward(self, x):
        return self.last(self.norm(self.first(x)))
"""
_PORT = """
from mindspore import nn


class Net(nn.Cell):
    def __init__(self, norm):
        super().__init__()
        self.kind = norm
        self.first = nn.Dense(6, 6)
        self.norm = nn.LayerNorm([6], epsilon=1e-5)
        self.last = nn.Dense(6, 3)

    def construct(self, x):
        x = self.first(x)  # before it
        if self.kind == "weights":
            # Not called, and used.
            x = x * self.norm.gamma + self.norm.beta
        return self.last(x)
"""


@pytest.mark.parametrize("norm", ["none", "weights"])
def test_an_unused_layer_is_one_finding_with_its_missing_operator(tmp_path: Path, norm: str) -> None:
    (tmp_path / "uses.py").write_text(_BENCH)
    (tmp_path / "leaves.py").write_text(_PORT)
    answer = trueline.pair("uses:Net", "leaves:Net", "4x6", folder=tmp_path, steps=0, port_kwargs={"norm": norm})

    (line,) = (number for number, text in enumerate(_PORT.splitlines(), 1) if "# before it" in text)
    found = [(blame.cause, blame.line and blame.line.line, blame.confirmed) for blame in answer.blames]
    assert found == [(Cause.NORMALISATION, line, True)]
