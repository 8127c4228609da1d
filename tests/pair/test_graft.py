"""The benchmark's tensor in the live port at one place: what of the difference remains, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.adapters.guest.trouble import SideTrouble
from trueline.pair.graft.report import said
from trueline.pair.graft.run import Grafted

TORCH = """
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, wide, eps=1e-5, scale=1.0):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(wide, wide, 3, padding=1, bias=False), nn.BatchNorm2d(wide, eps=eps)
        self.scale = scale

    def forward(self, x):
        return x + F.relu(self.bn(self.conv(x))) * self.scale


class Net(nn.Module):
    def __init__(self, eps=1e-5, scale=1.0, out=5, tail=1.0, relu=False):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.layer1 = nn.Sequential(Block(8), Block(8, eps))
        self.layer2 = nn.Sequential(Block(8), Block(8, scale=scale))
        self.shared = nn.Linear(8, 8)
        self.head = nn.Linear(8, out)
        self.unused = nn.Linear(8, 8)
        self.tail = tail
        if relu:
            self.more = nn.ReLU()

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x))).mean((2, 3))
        x = self.shared(torch.tanh(self.shared(x)))
        if hasattr(self, "more"):
            x = self.more(x)
        return self.head(x) * self.tail


def net(**wishes):
    return Net(**wishes)
"""
MINDSPORE = """
from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, wide, eps=1e-5, scale=1.0):
        super().__init__()
        self.conv = nn.Conv2d(wide, wide, 3, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(wide, eps=eps, momentum=0.9)
        self.scale = scale

    def construct(self, x):
        return x + ops.relu(self.bn(self.conv(x))) * self.scale


class Net(nn.Cell):
    def __init__(self, eps=1e-5, scale=1.0):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, pad_mode="valid", has_bias=True)
        self.layer1 = nn.SequentialCell(Block(8), Block(8, eps))
        self.layer2 = nn.SequentialCell(Block(8), Block(8, scale=scale))
        self.shared = nn.Dense(8, 8)
        self.head = nn.Dense(8, 5)
        self.unused = nn.Dense(8, 8)

    def construct(self, x):
        x = self.layer2(self.layer1(self.stem(x))).mean((2, 3))
        return self.head(self.shared(ops.tanh(self.shared(x))))


def net(**wishes):
    return Net(**wishes)
"""
PORTS = ("nets_torch:net", "nets_mindspore:net")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graft")
    (folder / "nets_torch.py").write_text(TORCH, "utf-8")
    (folder / "nets_mindspore.py").write_text(MINDSPORE, "utf-8")
    return folder


def grafted(folder: Path, port: str, wishes: dict[str, object], *modules: str) -> list[Grafted]:
    """What the grafts of a port with these planted faults show."""
    found = trueline.pair(
        "nets_torch:net", port, "4x3x10x10", folder=folder, steps=0, port_kwargs=wishes, graft=modules
    )
    return list(found.grafts)


@pytest.mark.parametrize("port", PORTS)
def test_a_graft_behind_the_fault_leaves_nothing_and_one_before_it_names_the_first_place(
    project: Path, port: str
) -> None:
    behind, before, both = grafted(project, port, {"eps": 0.5}, "layer1", "layer1.0")
    assert behind.after.within and not behind.before.within and behind.first is None
    assert said(behind).id == "pair_graft.lies_before" and behind.diverging == []
    assert not before.after.within and before.first is not None
    assert (before.first.module, before.first.kind, before.first.inside) == ("layer1.1.bn", "out", True)
    assert [one.module for one in before.diverging][:3] == ["layer1.1.bn", "layer1.1", "layer1"]
    assert both.modules == ["layer1", "layer1.0"] and both.after.within


@pytest.mark.parametrize("port", PORTS)
def test_each_of_two_faults_is_told_by_a_graft_between_them(project: Path, port: str) -> None:
    (between,) = grafted(project, port, {"eps": 0.5, "scale": 0.5}, "layer1")
    assert between.first is not None and not between.after.within
    # The code of the block differs: its layers agree.
    assert (between.first.module, between.first.inside) == ("layer2.1", True)
    assert "still differ" in said(between).text("en") and "`layer2.1`" in said(between).text("zh")


def test_every_call_of_a_module_is_replaced(project: Path) -> None:
    (shared,) = grafted(project, "nets_torch:net", {"scale": 0.5}, "shared")
    assert shared.calls == 2 and shared.after.within and shared.after.level == 0


def test_what_differs_in_the_networks_own_code_is_said(project: Path) -> None:
    (last,) = grafted(project, "nets_torch:net", {"tail": 2.0}, "head")
    assert said(last).id == "pair_graft.still_in_code" and last.first is None


def test_a_right_port_agrees_with_and_without(project: Path) -> None:
    for port in PORTS:
        (same,) = grafted(project, port, {}, "layer2")
        assert same.before.within and same.after.within and same.diverging == []
        assert said(same).id == "pair_graft.agrees_anyway"


@pytest.mark.parametrize(
    ("wishes", "module", "id", "words"),
    [
        ({}, "layer3", "pair_stage.no_module_near", "did you mean layer"),
        ({}, "", "pair_stage.no_module", ""),
        ({}, "unused", "pair_graft.not_called", "unused"),
        ({"out": 6}, "head", "pair_graft.shape", "4x6"),
        ({"relu": True}, "more", "pair_graft.no_counterpart", "more"),
    ],
)
def test_what_cannot_be_put_in_ends_with_one_line(
    project: Path, wishes: dict[str, object], module: str, id: str, words: str
) -> None:
    with pytest.raises(SideTrouble) as told:
        grafted(project, "nets_torch:net", wishes, module)
    assert told.value.message.id.startswith(id) and words in told.value.message.text("en")
