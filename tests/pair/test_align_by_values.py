"""Names that say nothing and layers that lie elsewhere: found by what goes into them, and still judged one by one."""

from __future__ import annotations

from pathlib import Path

import trueline

TORCH = """
import torch
from torch import nn

class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.merge = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.shift = nn.Parameter(torch.randn(8))

    def forward(self, x):
        return self.merge(torch.tanh(self.first(x)) * self.second(x) + self.shift)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.mixing = nn.LayerNorm(8), Mixing()
        self.after, self.widen, self.narrow = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        x = x + self.mixing(self.before(x))
        return x + self.narrow(torch.relu(self.widen(self.after(x))))

def net():
    return nn.Sequential(nn.Linear(5, 8), Block(), Block(), nn.Linear(8, 3))
"""
MINDSPORE = """
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer

class P(nn.Cell):
    def __init__(self, eps):
        super().__init__()
        self.z9 = nn.LayerNorm((8,), epsilon=eps)
        self.a1, self.a2, self.a3 = nn.Dense(8, 8), nn.Dense(8, 8), nn.Dense(8, 8)
        self.c = Parameter(initializer(Normal(1.0), (8,)))

    def construct(self, x):
        y = self.z9(x)
        return x + self.a3(ops.tanh(self.a1(y)) * self.a2(y) + self.c)

class Q(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = nn.SequentialCell(nn.LayerNorm((8,), epsilon=1e-5), nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 8))

    def construct(self, x):
        return x + self.k(x)

class Net(nn.Cell):
    def __init__(self, eps):
        super().__init__()
        self.w = nn.Dense(8, 3)
        self.parts = nn.CellList([P(1e-5), Q(), P(eps), Q()])
        self.v = nn.Dense(5, 8)

    def construct(self, x):
        x = self.v(x)
        for one in self.parts:
            x = one(x)
        return self.w(x)

def net(eps=1e-5):
    return Net(eps)
"""


def test_a_port_of_other_names_and_nesting_is_aligned_and_its_fault_found(tmp_path: Path) -> None:
    (tmp_path / "net_torch.py").write_text(TORCH, "utf-8")
    (tmp_path / "net_mindspore.py").write_text(MINDSPORE, "utf-8")

    def causes(**kwargs: float) -> list[tuple[str, str]]:
        found = trueline.pair("net_torch:net", "net_mindspore:net", "6x5", folder=tmp_path, steps=0, port_kwargs=kwargs)
        assert not found.aligned.only_bench and not found.aligned.only_port
        return [(one.module, one.cause) for one in found.blames if one.stage != "initial"]

    assert causes() == []
    assert causes(eps=0.1) == [("parts.2.z9", "eps")]
