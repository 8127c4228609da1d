"""Code is looked into where a block of the port takes more than the benchmark's: what else it takes is its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline

NETS = """
import torch
from torch import nn


class Mixing(nn.Module):
    def __init__(self, fused):
        super().__init__()
        if fused:
            self.qkv = nn.Linear(8, 24)
        else:
            self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.fused = fused
        self.out = nn.Linear(8, 8)

    def forward(self, x, mask=None):
        if mask is None:
            mask = torch.full((x.shape[1], x.shape[1]), -1e9).triu(1)
        q, k, v = self.qkv(x).chunk(3, -1) if self.fused else (self.q(x), self.k(x), self.v(x))
        return self.out(torch.softmax(q @ k.transpose(-1, -2) + mask, -1) @ v)


class Block(nn.Module):
    def __init__(self, fused, fault):
        super().__init__()
        self.norm, self.mixing, self.dense = nn.LayerNorm(8), Mixing(fused), nn.Linear(8, 8)
        self.fault = (fault,)

    def run(self, x, *mask):
        fault = self.fault[0]
        y = x + self.mixing(self.norm(x), *mask)
        z = self.dense(y.detach() if fault == "stopped" else y)  # expect: stopped
        return (x if fault == "residual" else y) + z  # expect: residual


class Alone(Block):
    def forward(self, x):
        return self.run(x)


class Masked(Block):
    def forward(self, mask, x):
        return self.run(x, mask)


class Net(nn.Module):
    def __init__(self, masked, fault):
        super().__init__()
        self.stem, self.head = nn.Linear(8, 8), nn.Linear(8, 4)
        self.block, self.masked = Masked(True, fault) if masked else Alone(False, fault), masked

    def forward(self, x):
        x = self.stem(x)
        mask = (torch.full((x.shape[1], x.shape[1]), -1e9).triu(1),) if self.masked else ()
        return self.head(self.block(*mask, x))


def net(masked=False, fault=""):
    return Net(masked, fault)
"""


@pytest.mark.parametrize("fault", ["residual", "stopped", ""])
def test_a_mask_that_the_benchmark_makes_inside(tmp_path: Path, fault: str) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    port = {"masked": True, "fault": fault}
    found = trueline.pair("nets:net", "nets:net", "3x5x8", port_kwargs=port, folder=tmp_path, steps=0)
    lines = [number for number, line in enumerate(NETS.splitlines(), 1) if fault and f"# expect: {fault}" in line]
    assert [blame.line.line for blame in found.blames if blame.confirmed and blame.line] == lines
