"""Layers that the port builds and never uses: found where the benchmark's outputs depend on them."""

from __future__ import annotations

from pathlib import Path

import trueline
from trueline.pair.blame import Cause

NETS = """
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 8)

    def forward(self, x):
        return self.second(torch.tanh(self.norm(self.first(x))))


class Net(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.stacks = nn.ModuleList([Stack(), Stack()])
        self.merge, self.score, self.head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        self.way = (way,)
        if way == "beside":
            self.mixing = nn.Linear(8, 8)

    def forward(self, x):
        way = self.way[0]
        y = self.stacks[0](x)
        if way == "left out":
            x = x + self.score(y)  # expect: left out
        elif way == "beside":
            x = x + self.mixing(y) + self.score(y)
        elif way == "by weight":
            x = x + nn.functional.linear(y, self.merge.weight, self.merge.bias) + self.score(y)
        else:
            x = x + self.merge(y) + self.score(y)
        if way == "twice":
            x = self.stacks[0](x)  # expect: twice
        else:
            x = self.stacks[1](x)
        return self.head(x)


def net(way=""):
    return Net(way)
"""


def _lines(folder: Path, way: str) -> list[tuple[str, int | None]]:
    (folder / "nets.py").write_text(NETS)
    found = trueline.pair("nets:net", "nets:net", "3x8", port_kwargs={"way": way}, folder=folder, steps=0)
    assert all(blame.confirmed for blame in found.blames if blame.cause is Cause.NOT_CALLED)
    return [
        (blame.module, blame.line.line if blame.line else None)
        for blame in found.blames
        if blame.cause is Cause.NOT_CALLED
    ]


def _marked(mark: str) -> int:
    return next(number for number, line in enumerate(NETS.splitlines(), 1) if f"# expect: {mark}" in line)


def test_a_module_in_whose_place_another_is_called_again(tmp_path: Path) -> None:
    assert _lines(tmp_path, "twice") == [("stacks.1", _marked("twice"))]


def test_a_layer_that_is_left_out_belongs_where_its_neighbour_is_called(tmp_path: Path) -> None:
    assert _lines(tmp_path, "left out") == [("merge", _marked("left out"))]


def test_a_layer_of_which_only_the_weights_are_used_is_used(tmp_path: Path) -> None:
    assert _lines(tmp_path, "by weight") == []
    assert _lines(tmp_path, "") == []


def test_a_layer_beside_which_another_is_used_is_no_difference(tmp_path: Path) -> None:
    assert _lines(tmp_path, "beside") == []
