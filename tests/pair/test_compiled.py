"""A side that is compiled is held against itself op by op: torch.compile, MindSpore's graph mode and jit."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline

TORCH = """
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, otherwise):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.otherwise = otherwise

    def forward(self, x):
        x = torch.relu(self.inner(x))
        return x * 1.5 if self.otherwise and torch.compiler.is_compiling() else x

def net(otherwise=False):
    return nn.Sequential(nn.Linear(4, 8), Scaled(otherwise), nn.Linear(8, 3))

def compiled(otherwise=False):
    return torch.compile(net(otherwise), backend="eager")
"""
MINDSPORE = """
import mindspore as ms
from mindspore import nn, ops

class Scaled(nn.Cell):
    def __init__(self, otherwise):
        super().__init__()
        self.inner = nn.Dense(8, 8)
        self.otherwise = otherwise

    def construct(self, x):
        x = ops.relu(self.inner(x))
        if self.otherwise:
            # Python's numbers have twice the digits of those that a graph folds.
            x = x * (1.0 + (0.1 + 0.2 - 0.3) * 1e16)
        return x

class Jitted(Scaled):
    @ms.jit
    def construct(self, x):
        x = ops.relu(self.inner(x))
        if self.otherwise:
            x = x * (1.0 + (0.1 + 0.2 - 0.3) * 1e16)
        return x

def net(otherwise=False):
    return nn.SequentialCell(nn.Dense(4, 8), Scaled(otherwise), nn.Dense(8, 3))

def graph(otherwise=False):
    ms.set_context(mode=ms.GRAPH_MODE)
    return net(otherwise)

def jitted(otherwise=False):
    return nn.SequentialCell(nn.Dense(4, 8), Jitted(otherwise), nn.Dense(8, 3))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "net_torch.py").write_text(TORCH, "utf-8")
    (folder / "net_mindspore.py").write_text(MINDSPORE, "utf-8")
    return folder


@pytest.mark.parametrize("port", ["net_torch:compiled", "net_mindspore:graph", "net_mindspore:jitted"])
def test_what_only_the_compiler_does_is_found_and_its_module_named(project: Path, port: str) -> None:
    bench, kwargs = f"{port.partition(':')[0]}:net", {"otherwise": True}
    found = trueline.pair(bench, port, "5x4", folder=project, steps=0, kwargs=kwargs)
    assert [(one.cause, one.confirmed) for one in found.blames] == [("compiled", True)]
    assert found.blames[0].module.removeprefix("_orig_mod.") == "1"
    assert port in found.blames[0].message.text()


@pytest.mark.parametrize("port", ["net_torch:compiled", "net_mindspore:graph", "net_mindspore:jitted"])
def test_a_compiled_network_that_computes_the_same_is_no_finding(project: Path, port: str) -> None:
    bench = f"{port.partition(':')[0]}:net"
    assert trueline.pair(bench, port, "5x4", folder=project, steps=2).blames == []
