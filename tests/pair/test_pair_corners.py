"""Networks as users have them that once ended in a crash, a false cause or a wrong exit."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.report import result

TORCH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))

class Twice(Net):
    def forward(self, x):
        return super().forward(x) * 2.0

class Odd(Net):
    def forward(self, x):
        x = torch.sin(5 * self.norm(self.conv(x))).cumsum(2).amax((2, 3))
        return self.head(x * x.flip(1).cumsum(1))

class Bare(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def short():
    return Net().bfloat16()
"""
MINDSPORE = """
import mindspore as ms
from mindspore import nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.head = nn.Dense(8, 4)

    def construct(self, x):
        return self.head(x) * len({"a", self.head.weight.name})

def graph():
    ms.set_context(mode=ms.GRAPH_MODE)
    return Net()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corners")
    (folder / "net.py").write_text(TORCH, "utf-8")
    (folder / "graph.py").write_text(MINDSPORE, "utf-8")
    return folder


@pytest.mark.parametrize(("entry", "shape"), [("net:short", "2x3x8x8"), ("net:Bare", "2x8")])
def test_short_floats_and_networks_without_parameters_are_judged(project: Path, entry: str, shape: str) -> None:
    found = trueline.pair(entry, entry, shape, folder=project, steps=2)
    assert found.blames == []


def test_a_factor_on_the_output_is_one_cause_and_not_its_gradient_too(project: Path) -> None:
    found = trueline.pair("net:Net", "net:Twice", "2x3x8x8", folder=project, steps=0)
    assert [(one.stage, one.cause, one.confirmed) for one in found.blames] == [("forward", "scale", True)]


def test_the_whole_network_is_named_as_such(project: Path) -> None:
    found = trueline.pair("net:Net", "net:Odd", "2x3x8x8", folder=project, steps=0)
    (unknown,) = [one for one in found.blames if one.cause == "unknown"]
    assert str(unknown.message).startswith(
        "`head` receives a different input than in the benchmark (max relative error"
    )
    assert "from the code of the whole network; no cause confirmed. Tried: other_input" in str(unknown.message)
    assert unknown.message.text("zh").startswith("`head` 得到的输入与标杆不同（最大相对误差")


def test_a_port_that_its_compiler_refuses_is_a_problem(project: Path) -> None:
    found = trueline.pair("graph:Net", "graph:graph", "2x8", folder=project, steps=0)
    assert [(one.cause, one.confirmed) for one in found.blames] == [("compiled", True)]
    assert result(found).exit == 1
