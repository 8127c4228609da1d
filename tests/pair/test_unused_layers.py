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
        self.norm = nn.LayerNorm([6], epsilon=1e-5)  # built
        self.last = nn.Dense(6, 3)

    def construct(self, x):
        x = self.first(x)
        if self.kind == "weights":
            # Not called, and used.
            x = x * self.norm.gamma + self.norm.beta
        return self.last(x)
"""


@pytest.mark.parametrize(("norm", "found"), [("none", True), ("weights", False)])
def test_an_unused_layer_is_found(tmp_path: Path, norm: str, found: bool) -> None:
    (tmp_path / "uses.py").write_text(_BENCH)
    (tmp_path / "leaves.py").write_text(_PORT)
    answer = trueline.pair("uses:Net", "leaves:Net", "4x6", folder=tmp_path, steps=0, port_kwargs={"norm": norm})
    unused = [blame for blame in answer.blames if blame.message.id == "pair_stage.unused"]

    (line,) = (number for number, text in enumerate(_PORT.splitlines(), 1) if "# built" in text)
    wanted = [(Cause.MISSING_OP, "norm", line, True)] if found else []
    assert [(blame.cause, blame.module, blame.line and blame.line.line, blame.confirmed) for blame in unused] == wanted
