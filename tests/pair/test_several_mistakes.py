"""Several mistakes in the code of one block are named each at the line that makes it, tables by who holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Blame, Cause

BENCH = """
import torch
from torch import nn
import torch.nn.functional as F

def tables(width, length, base):
    angles = torch.outer(torch.arange(length).float(), base ** (-torch.arange(0, width, 2).float() / width))
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()

def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(24, 24), nn.Linear(24, 8), nn.Linear(24, 8)
        self.out = nn.Linear(24, 24)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.query(x).view(b, t, 6, 4).transpose(1, 2)
        k, v = (layer(x).view(b, t, 2, 4).transpose(1, 2) for layer in (self.key, self.value))
        cos, sin = tables(4, t, 500.0)
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        k, v = k.repeat_interleave(3, 1), v.repeat_interleave(3, 1)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, 24))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.attention, self.last = nn.Linear(5, 24), Attention(), nn.Linear(24, 3)

    def forward(self, x):
        x = self.first(x)
        return self.last(x + self.attention(x))
"""
PORT = """
import torch
from torch import nn

def tables(width, length, base):
    angles = torch.outer(torch.arange(length).float(), base ** (-torch.arange(0, width, 2).float() / width))
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()

def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin

class FusedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(24, 40), nn.Linear(24, 24)
        self.cos, self.sin = tables(4, 32, BASE)
        self.scale = SCALE ** -0.5

    def forward(self, x, hidden):
        b, t, _ = x.shape
        qkv = self.qkv(x).view(b, t, 10, 4).transpose(1, 2)
        q, k, v = qkv[:, :6], qkv[:, 6:8], qkv[:, 8:]
        q, k = turned(q, self.cos[:t], self.sin[:t]), turned(k, self.cos[:t], self.sin[:t])
        k, v = HEADS
        scores = (q @ k.transpose(-1, -2) * self.scale).masked_fill(hidden, -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, 24))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.attention, self.last = nn.Linear(5, 24), FusedAttention(), nn.Linear(24, 3)

    def forward(self, x):
        x = self.first(x)
        return self.last(x + self.attention(x, torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)))
"""
RIGHT = {"BASE": "500.0", "SCALE": "4", "HEADS": "k.repeat_interleave(3, 1), v.repeat_interleave(3, 1)"}
WRONG = {"BASE": "10000.0", "SCALE": "24", "HEADS": "k.repeat(1, 3, 1, 1), v.repeat(1, 3, 1, 1)"}


def _paired(folder: Path, bench: str, port: str, size: str) -> list[tuple[Blame, str]]:
    """What is found and confirmed, beside the port's line."""
    (folder / "bench.py").write_text(bench)
    (folder / "port.py").write_text(port)
    found = trueline.pair("bench:Net", "port:Net", size, folder=folder, steps=0)
    lines = port.splitlines()
    told = [blame for blame in found.blames if blame.cause is not Cause.INITIAL]
    assert all(blame.confirmed for blame in told), told
    return [(blame, lines[blame.line.line - 1] if blame.line is not None else "") for blame in told]


def _port(**instead: str) -> str:
    text = PORT
    for name, code in {**RIGHT, **instead}.items():
        text = text.replace(name, code)
    return text


def test_a_block_that_takes_more_and_holds_its_tables_is_no_difference(tmp_path: Path) -> None:
    assert _paired(tmp_path, BENCH, _port(), "2x7x5") == []


def test_three_mistakes_in_one_attention_are_three_causes(tmp_path: Path) -> None:
    found = _paired(tmp_path, BENCH, _port(**WRONG), "2x7x5")
    lines = {line.strip().split(" = ")[0]: blame.cause for blame, line in found}
    assert lines == {
        "self.cos, self.sin": Cause.CONSTANT,
        "self.scale": Cause.SCALE,
        "k, v": Cause.OTHER_OP,
    }


@pytest.mark.parametrize("name", ["BASE", "SCALE", "HEADS"])
def test_each_alone_is_just_that(tmp_path: Path, name: str) -> None:
    found = _paired(tmp_path, BENCH, _port(**{name: WRONG[name]}), "2x7x5")
    assert len({line for _, line in found}) == 1


ROLLED = """
import torch
from torch import nn

def shifted(x, by):
    return torch.cat([x[:, -by:], x[:, :-by]], 1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 6)
        self.register_buffer("index", torch.arange(9).flip(0).reshape(3, 3)INDEX.reshape(-1))

    def forward(self, x):
        y = self.first(shifted(x, -2))
        y = shifted(y, BY)
        return self.last(y[:, self.index])
"""


def test_a_function_that_does_right_elsewhere_is_called_wrongly(tmp_path: Path) -> None:
    bench = ROLLED.replace("BY", "2").replace("INDEX", "")
    ((blame, line),) = _paired(tmp_path, bench, bench.replace("shifted(y, 2)", "shifted(y, -2)"), "2x9x6")
    assert line.strip() == "y = shifted(y, -2)"
    assert blame.cause is Cause.OTHER_OP


def test_a_table_that_an_operator_looks_up_is_tried_in_its_place(tmp_path: Path) -> None:
    bench = ROLLED.replace("BY", "2").replace("INDEX", "")
    held = 'self.register_buffer("index", torch.arange(9).flip(0).reshape(3, 3).reshape(-1))'
    port = bench.replace(held, "self.places = torch.arange(9).flip(0).reshape(3, 3).T.reshape(-1)")
    ((blame, line),) = _paired(tmp_path, bench, port.replace("self.index", "self.places"), "2x9x6")
    assert blame.cause is Cause.CONSTANT
    assert line.strip().startswith("self.places = ")


GATED = """
import torch
from torch import nn

class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = FIRST, SECOND
        self.act = nn.Sigmoid()

    def forward(self, x):
        mean, high = POOLED
        return GATE

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.gate, self.last = nn.Conv2d(3, 8, 3), Gate(), nn.Conv2d(2, 4, 3)

    def forward(self, x):
        x = self.first(x)
        x = x * self.gate(x)LAID
        return self.last(torch.cat([ORDER], 1))
"""
MEAN, MAX = "x.mean(1, keepdim=True)", "x.amax(1, keepdim=True)"
CONVOLVED = {
    "FIRST": "nn.Conv2d(8, 4, 1)",
    "SECOND": "nn.Conv2d(4, 8, 1)",
    "POOLED": "x.mean((2, 3), keepdim=True), x.amax((2, 3), keepdim=True)",
    "GATE": "self.act(self.up(self.down(mean)) + self.up(self.down(high)))",
    "LAID": "",
    "ORDER": f"{MAX}, {MEAN}",
}
LINEAR = {
    **CONVOLVED,
    "FIRST": "nn.Linear(8, 4)",
    "SECOND": "nn.Linear(4, 8)",
    "POOLED": "x.mean((2, 3)), x.amax((2, 3))",
    "LAID": "[..., None, None]",
}


def _filled(parts: dict[str, str]) -> str:
    text = GATED
    for name, code in parts.items():
        text = text.replace(name, code)
    return text


def test_mistakes_around_layers_of_another_shape_are_named_where_they_are_called(tmp_path: Path) -> None:
    bench = _filled(CONVOLVED)
    assert _paired(tmp_path, bench, _filled(LINEAR), "2x3x9x9") == []
    gate = "self.act(self.up(self.down(mean))) + self.act(self.up(self.down(high)))"
    port = _filled({**LINEAR, "GATE": gate, "ORDER": f"{MEAN}, {MAX}"})
    found = {blame.cause: line.strip() for blame, line in _paired(tmp_path, bench, port, "2x3x9x9")}
    assert set(found) == {Cause.ORDER, Cause.CONCAT_ORDER}
    assert found[Cause.ORDER].startswith("return self.act")
    assert found[Cause.CONCAT_ORDER].startswith("return self.last(torch.cat")
