"""Blocks that hold their layers in one more container than the other side's are matched as blocks."""

from __future__ import annotations

from pathlib import Path

import trueline

NETS = """
import torch
from torch import nn

class Bench(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))

    def forward(self, x):
        return x + self.body(x)

class Port(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.first, self.act, self.second = nn.Linear(8, 8), act, nn.Linear(8, 8)

    def forward(self, x):
        return self.second(self.act(self.first(x))) + x

def bench():
    return nn.Sequential(nn.Linear(5, 8), Bench(), Bench(), nn.Linear(8, 3))

def port(faulty=False):
    act = nn.ELU if faulty else nn.ReLU
    return nn.Sequential(nn.Linear(5, 8), Port(act()), Port(act()), nn.Linear(8, 3))
"""


def test_a_fault_in_such_a_block_is_the_only_finding(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS, "utf-8")
    found = trueline.pair("nets:bench", "nets:port", "6x5", folder=tmp_path, steps=0, port_kwargs={"faulty": True})
    assert [(one.module, one.cause, one.confirmed) for one in found.blames] == [("1.act", "activation", True)]
    assert trueline.pair("nets:bench", "nets:port", "6x5", folder=tmp_path, steps=0).blames == []
