"""Dropout that is a function, not a layer: identity in comparisons, but how much it drops is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.model.location import Location
from trueline.pair.blame import Blame, Cause

TORCH = """
import torch
from torch import nn
from torch.nn import functional as F

class Block(nn.Module):
    def __init__(self, p=0.1, after=0.0):
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.second = nn.Linear(16, 16)
        self.p, self.after = p, after

    def forward(self, x):
        x = F.dropout(torch.relu(self.first(x)), self.p, self.training)
        return F.dropout(self.second(x), p=self.after, training=self.training)

class Net(nn.Module):
    def __init__(self, p=0.1, after=0.0):
        super().__init__()
        self.stem = nn.Linear(8, 16)
        self.block = Block(p, after)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.block(self.stem(x)))

def net(p=0.1, after=0.0):
    return Net(p, after)
"""
MINDSPORE = """
from mindspore import nn, ops

class Block(nn.Cell):
    def __init__(self, p=0.1, layer=False):
        super().__init__()
        self.first = nn.Dense(16, 16)
        self.second = nn.Dense(16, 16)
        self.p = p
        self.layer = nn.Dropout(p=p) if layer else None

    def construct(self, x):
        x = ops.relu(self.first(x))
        x = self.layer(x) if self.layer is not None else ops.dropout(x, p=self.p, training=self.training)
        return self.second(x)

class Net(nn.Cell):
    def __init__(self, p=0.1, layer=False):
        super().__init__()
        self.stem = nn.Dense(8, 16)
        self.block = Block(p, layer)
        self.head = nn.Dense(16, 4)

    def construct(self, x):
        return self.head(self.block(self.stem(x)))

def net(p=0.1, layer=False):
    return Net(p, layer)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dropping")
    (folder / "net_torch.py").write_text(TORCH, "utf-8")
    (folder / "net_mindspore.py").write_text(MINDSPORE, "utf-8")
    return folder


def _found(project: Path, port: str, **kwargs: object) -> list[Blame]:
    found = trueline.pair("net_torch:net", port, "6x8", folder=project, steps=0, port_kwargs=kwargs)
    return [one for one in found.blames if one.cause is not Cause.INITIAL]


def _blames(project: Path, port: str, **kwargs: object) -> list[tuple[str, str, bool]]:
    return [(one.module, one.cause, one.confirmed) for one in _found(project, port, **kwargs)]


def _said_on(line: Location | None) -> str:
    """What a line of a file says."""
    assert line is not None
    return Path(line.file).read_text("utf-8").splitlines()[line.line - 1]


def test_another_share_is_confirmed_by_dropping_the_benchmarks(project: Path) -> None:
    (one,) = _found(project, "net_mindspore:net", p=0.5)
    assert (one.module, one.cause, one.confirmed) == ("block", "dropout", True)
    # The lines that call for it, not those that build the block.
    assert "ops.dropout(x, p=self.p" in _said_on(one.line)
    assert "F.dropout(torch.relu(self.first(x))" in _said_on(one.other_line)


@pytest.mark.parametrize("layer", [False, True], ids=["a function", "a layer"])
def test_the_same_share_is_no_finding_whether_function_or_layer(project: Path, layer: bool) -> None:
    assert _blames(project, "net_mindspore:net", layer=layer) == []


def test_a_dropout_too_many_is_named_and_confirmed_by_leaving_it_out(project: Path) -> None:
    (one,) = _found(project, "net_torch:net", after=0.3)
    assert (one.module, one.cause, one.confirmed) == ("block", "dropout", True)
    assert "p=self.after" in _said_on(one.line)


def test_a_missing_dropout_is_named(project: Path) -> None:
    (one,) = _found(project, "net_torch:net", p=0.0)
    assert (one.module, one.cause) == ("block", "dropout")
    assert "self.block = Block(p, after)" in _said_on(one.line)
    assert "F.dropout(torch.relu(self.first(x))" in _said_on(one.other_line)


MASKED = """
import torch
from torch import nn

class Mixing(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.first, self.second, self.p = nn.Linear(16, 16), nn.Linear(16, 16), p

    def forward(self, x, mask):
        x = torch.relu(self.first(x)).masked_fill(mask, 0.0)
        return self.second(nn.functional.dropout(x, self.p, self.training))

class Shown(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)
        self.dropping = nn.Dropout(p)

    def forward(self, x, mask):
        x = torch.relu(self.first(x)).masked_fill(mask[:, 0], 0.0)
        return self.second(self.dropping(x))

class Net(nn.Module):
    def __init__(self, p=0.1, shown=False):
        super().__init__()
        self.stem, self.shown = nn.Linear(16, 16), shown
        self.mixing = Shown(p) if shown else Mixing(p)

    def forward(self, x):
        x = self.stem(x)
        mask = x > 1.0
        return self.mixing(x, mask[:, None] if self.shown else mask)

def net(p=0.1, shown=False):
    return Net(p, shown)
"""


def test_a_block_that_does_not_take_the_benchmarks_inputs_is_tried_in_its_network(tmp_path: Path) -> None:
    (tmp_path / "masked.py").write_text(MASKED, "utf-8")
    kwargs = {"p": 0.6, "shown": True}
    found = trueline.pair("masked:net", "masked:net", "8x16", folder=tmp_path, steps=0, port_kwargs=kwargs)
    (dropping,) = (one for one in found.blames if one.cause is Cause.DROPOUT and not one.latent)
    assert (dropping.module, dropping.confirmed) == ("mixing", True)
    # What builds the layer has its share.
    assert "self.dropping = nn.Dropout(p)" in _said_on(dropping.line)
