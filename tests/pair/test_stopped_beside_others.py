"""A gradient that is stopped is found where values differ too, and where a module takes fewer inputs."""

from __future__ import annotations

from pathlib import Path

import trueline

NETS = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x, table, memory):
        return self.out(self.inner(x) + memory) + (0 if table is None else table)


class Net(nn.Module):
    def __init__(self, stopped, scale, table):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(8, 8), nn.Linear(8, 8), Head()
        self.stopped, self.scale, self.table = stopped, scale, table

    def forward(self, x):
        x = self.first(x)
        memory = self.second(x).tanh() * self.scale
        memory = memory.detach() if self.stopped else memory
        return self.head(x, torch.zeros(4) if self.table else None, memory)


def net(stopped=False, scale=1.0, table=True):
    return Net(stopped, scale, table)
"""
LINE = NETS.splitlines().index("        memory = memory.detach() if self.stopped else memory") + 1


def _causes(folder: Path, **port: object) -> dict[str, int | None]:
    (folder / "nets.py").write_text(NETS)
    found = trueline.pair("nets:net", "nets:net", "3x8", port_kwargs=port, folder=folder, steps=0)
    assert all(one.confirmed for one in found.blames)
    return {one.cause: one.line.line if one.line else None for one in found.blames}


def test_in_a_block_whose_values_differ(tmp_path: Path) -> None:
    found = _causes(tmp_path, stopped=True, scale=0.5)
    assert set(found) == {"detached", "scale"}
    assert found["detached"] == LINE


def test_on_the_way_into_a_module_that_takes_fewer_inputs(tmp_path: Path) -> None:
    assert _causes(tmp_path, stopped=True, table=False) == {"detached": LINE}


REVERSED = """
import torch
from torch import nn


class Reversing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return -ctx.by * grad, None


class Reversal(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by_much = (by,)

    def forward(self, x):
        return Reversing.apply(x, self.by_much[0])


class Net(nn.Module):
    def __init__(self, by, scale):
        super().__init__()
        self.first, self.reversal, self.last = nn.Linear(8, 8), Reversal(by), nn.Linear(8, 4)
        self.scale = (scale,)

    def forward(self, x):
        return self.last(self.reversal(self.first(x * self.scale[0])))


def net(by=0.5, scale=1.0):
    return Net(by, scale)
"""


def test_a_backward_of_a_module_beside_a_fault_around_it(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(REVERSED)
    port = {"by": 1.0, "scale": 0.5}
    found = trueline.pair("nets:net", "nets:net", "3x8", port_kwargs=port, folder=tmp_path, steps=0)
    assert {(one.stage, one.module) for one in found.blames} == {("forward", ""), ("backward", "reversal")}
    assert all(one.confirmed for one in found.blames)
