"""A stop of gradients that one side has is named beside values that differ, whatever other ways a value has."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline

NETS = """
import torch
import torch.nn.functional as F
from torch import nn


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Net(nn.Module):
    def __init__(self, way, scale):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        table = nn.Parameter(torch.randn(5, 8))
        self.names = ("table", "codes")["renamed" in way]
        setattr(self, self.names, table)
        self.way, self.scale = (way,), (scale,)

    def forward(self, x):
        way, table = self.way[0], getattr(self, self.names)
        a, b = self.first(x), self.second(x)
        near = torch.softmax(a @ table.t(), -1) @ table
        term = ((near.detach() if "codes" in way else near) - a).pow(2).mean(-1)
        b = b.detach() + b.tanh() if "several" in way else b + b.tanh()
        if "straight" in way:
            a = a + (a.round() - a).detach()
        if "written" in way:
            a = Rounded.apply(a)
        if "library" in way:
            a = F.gumbel_softmax(a * 1e4, hard=True)
        if "by hand" in way:
            soft = torch.softmax((a * 1e4 - torch.empty_like(a).exponential_().log()), -1)
            a = F.one_hot(soft.argmax(-1), 8) - soft.detach() + soft
        out, aligned = self.last(b * self.scale[0] + near + a), 2 - (F.normalize(b) * a).sum(-1)
        return {"out": out, "aligned": aligned, "term": term}


def net(way="", scale=1.0):
    return Net(way, scale)
"""


def _lines(folder: Path, bench: str, port: str) -> dict[str, int | None]:
    """The stops that are found, by whose they are."""
    (folder / "nets.py").write_text(NETS)
    found = trueline.pair(
        "nets:net",
        "nets:net",
        "3x8",
        bench_kwargs={"way": bench},
        port_kwargs={"way": port, "scale": 0.5},
        folder=folder,
        steps=0,
    )
    assert "scale" in {blame.cause for blame in found.blames}
    lines: dict[str, int | None] = {}
    for blame in found.blames:
        if blame.cause == "detached":
            assert blame.confirmed
            of_port = blame.message.id == "pair_ops.stopped"
            line = blame.line if of_port else blame.other_line
            lines["port" if of_port else "bench"] = line.line if line is not None else None
            # Both sides have one source: what is stopped on a line is taken there.
            assert blame.line == blame.other_line or of_port
    return lines


def _line(text: str) -> int:
    return next(number for number, line in enumerate(NETS.splitlines(), 1) if text in line)


def test_a_parameter_that_has_no_gradient_from_one_output(tmp_path: Path) -> None:
    assert _lines(tmp_path, "", "codes") == {"port": _line('near.detach() if "codes"')}
    assert _lines(tmp_path, "", "codes renamed") == {"port": _line('near.detach() if "codes"')}


def test_a_value_that_has_other_ways_too(tmp_path: Path) -> None:
    assert _lines(tmp_path, "", "several") == {"port": _line("b.detach() + b.tanh()")}


def test_a_stop_that_only_the_benchmark_has(tmp_path: Path) -> None:
    assert _lines(tmp_path, "codes", "") == {"bench": _line('near.detach() if "codes"')}
    assert _lines(tmp_path, "several", "") == {"bench": _line("b.detach() + b.tanh()")}


def test_stops_of_both_are_no_difference(tmp_path: Path) -> None:
    assert _lines(tmp_path, "codes several straight", "codes several straight") == {}


def test_both_have_one_and_the_port_another(tmp_path: Path) -> None:
    assert _lines(tmp_path, "straight", "straight codes") == {"port": _line('near.detach() if "codes"')}


@pytest.mark.parametrize(("bench", "port"), [("written", "straight"), ("library", "by hand"), ("by hand", "library")])
def test_what_is_stopped_otherwise_is_no_stop_more(tmp_path: Path, bench: str, port: str) -> None:
    assert _lines(tmp_path, bench, port) == {}
