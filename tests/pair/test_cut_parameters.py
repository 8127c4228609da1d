"""Parameters that a port cuts or lays otherwise are the benchmark's where the values of a block bear it out."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.model.report import Table
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.grouping import grouped
from trueline.pair.pairing import Paired

_BENCH = """
import torch
from torch import nn
import torch.nn.functional as F


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.conv = nn.Conv2d(2 + width, 2 * width, 3, padding=1)
        self.peep = nn.Parameter(torch.zeros(2, width, 1, 1))

    def forward(self, x, h):
        a, b = self.conv(torch.cat([x, h], 1)).chunk(2, 1)
        return torch.sigmoid(a + self.peep[0] * h) * torch.tanh(b + self.peep[1] * h) + h


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell(4)
        self.head = nn.Conv2d(4, 3, 1)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 4, *x.shape[2:])
        for _ in range(3):
            h = self.cell(x, h)
        return self.head(h)


class Taps(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 2)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.conv(F.pad(x, (1, 0)))).mean(-1))


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 6, 4, 4)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.stem(x)).mean((2, 3)))


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(6))
        self.size = nn.Parameter(torch.zeros(6))

    def forward(self, x):
        return (x + self.loc) * self.size.exp()


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([Norm() for _ in range(3)])
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])

    def forward(self, x):
        for norm, layer in zip(self.norms, self.layers):
            x = torch.tanh(layer(norm(x)))
        return x


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.MultiheadAttention(8, 2, batch_first=True)
        self.cross = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x, memory):
        x = x + self.own(x, x, x, need_weights=False)[0]
        x = x + self.cross(x, memory, memory, need_weights=False)[0]
        return self.head(x)
"""
_PORT = """
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Cell(nn.Cell):
    def __init__(self, width, swapped):
        super().__init__()
        self.width, self.swapped = width, swapped
        # Defined in another order than their inputs are joined in.
        self.state = nn.Conv2d(width, 2 * width, 3, pad_mode="pad", padding=1, has_bias=False)
        self.input = nn.Conv2d(2, 2 * width, 3, pad_mode="pad", padding=1, has_bias=True)
        self.peep_a = Parameter(Tensor(np.zeros((1, width, 1, 1)), ms.float32))
        self.peep_b = Parameter(Tensor(np.zeros((1, width, 1, 1)), ms.float32))

    def construct(self, x, h):
        both = self.input(x) + self.state(h)
        a, b = both[:, :self.width], both[:, self.width:]
        gate = ops.sigmoid(a + self.peep_a * h)
        if self.swapped:
            return gate * ops.sin(b + self.peep_b * h) + h  # swapped
        return gate * ops.tanh(b + self.peep_b * h) + h


class Recurrent(nn.Cell):
    def __init__(self, swapped=False):
        super().__init__()
        self.cell = Cell(4, swapped)
        self.head = nn.Conv2d(4, 3, 1, has_bias=True)

    def construct(self, x):
        h = ops.zeros((x.shape[0], 4, *x.shape[2:]), ms.float32)
        for _ in range(3):
            h = self.cell(x, h)
        return self.head(h)


class Taps(nn.Cell):
    def __init__(self, frozen=False):
        super().__init__()
        self.now = nn.Dense(4, 6)
        self.past = nn.Dense(4, 6, has_bias=False)
        self.past.weight.requires_grad = not frozen
        self.head = nn.Dense(6, 3)

    def construct(self, x):
        x = x.swapaxes(1, 2)
        before = ops.cat((ops.zeros_like(x[:, :1]), x[:, :-1]), 1)
        return self.head(ops.tanh(self.past(before) + self.now(x)).mean(1))


class Patches(nn.Cell):
    def __init__(self, last=False):
        super().__init__()
        self.order = (0, 2, 4, 3, 5, 1) if last else (0, 2, 4, 1, 3, 5)
        self.proj = nn.Dense(32, 6)
        self.head = nn.Dense(6, 3)

    def construct(self, x):
        b, _, h, w = x.shape
        x = x.reshape(b, 2, h // 4, 4, w // 4, 4).transpose(*self.order).reshape(b, -1, 32)  # flattened
        return self.head(ops.tanh(self.proj(x)).mean(1))


class Listed(nn.Cell):
    def __init__(self, unlike=False):
        super().__init__()
        self.unlike = unlike
        self.size = Parameter(Tensor(np.zeros((3, 6)), ms.float32))
        self.loc = Parameter(Tensor(np.zeros((3, 6)), ms.float32))
        self.layers = nn.CellList([nn.Dense(6, 6) for _ in range(3)])

    def construct(self, x):
        for place, layer in enumerate(self.layers):
            moved = x + self.loc[place]
            x = ops.tanh(layer(moved + ops.sin(self.size[place]) if self.unlike else moved * ops.exp(self.size[place])))
        return x


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Dense(8, 8) for _ in range(4))

    def heads(self, x):
        return x.reshape(*x.shape[:2], 2, 4).transpose(0, 2, 1, 3)

    def construct(self, query, memory):
        q, k, v = self.heads(self.wq(query)), self.heads(self.wk(memory)), self.heads(self.wv(memory))
        found = ops.matmul(ops.softmax(ops.matmul(q, k.swapaxes(2, 3)) / 2, -1), v)
        return self.wo(found.transpose(0, 2, 1, 3).reshape(query.shape))


class Attending(nn.Cell):
    def __init__(self):
        super().__init__()
        self.self_attention, self.cross_attention = Attention(), Attention()
        self.head = nn.Dense(8, 3)

    def construct(self, x, memory):
        x = x + self.self_attention(x, x)
        x = x + self.cross_attention(x, memory)
        return self.head(x)
"""
_NETS = [
    ("Recurrent", ["2x2x6x6"], 2),
    ("Taps", ["2x4x9"], 1),
    ("Patches", ["2x2x8x8"], 1),
    ("Listed", ["5x6"], 2),
    ("Attending", ["2x5x8", "2x7x8"], 4),
]


def paired(folder: Path, net: str, inputs: list[str], *, back: bool = False, **kwargs: object) -> Paired:
    (folder / "cut_bench.py").write_text(_BENCH)
    (folder / "cut_port.py").write_text(_PORT)
    sides = [f"cut_bench:{net}", f"cut_port:{net}"]
    return trueline.pair(*reversed(sides) if back else sides, inputs, folder=folder, steps=0, **kwargs)


def blames(answer: Paired) -> list[Blame]:
    return [blame for blame in answer.blames if blame.stage is not Stage.INITIAL]


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("net", "inputs", "count"), _NETS)
def test_what_is_only_cut_otherwise_is_the_same(
    tmp_path: Path, net: str, inputs: list[str], count: int, back: bool
) -> None:
    answer = paired(tmp_path, net, inputs, back=back)

    assert not answer.aligned.only_bench and not answer.aligned.only_port
    assert len(answer.aligned.pieces) == count
    assert [blame.message.text() for blame in blames(answer)] == []


def test_a_fault_in_such_a_block_is_found(tmp_path: Path) -> None:
    answer = paired(tmp_path, "Recurrent", ["2x2x6x6"], port_kwargs={"swapped": True})

    (line,) = (number for number, text in enumerate(_PORT.splitlines(), 1) if "# swapped" in text)
    assert not answer.aligned.only_bench and not answer.aligned.only_port
    assert [(blame.cause, blame.confirmed, blame.line and blame.line.line) for blame in blames(answer)] == [
        (Cause.ACTIVATION, True, line)
    ]


def test_pieces_stand_in_the_table_and_a_frozen_one_is_found(tmp_path: Path) -> None:
    answer = paired(tmp_path, "Taps", ["2x4x9"], port_kwargs={"frozen": True})
    rows = [row for stage in answer.stages for table in stage.blocks if isinstance(table, Table) for row in table.rows]

    assert ["conv.weight", "past.weight, now.weight", "6x4x2 / 6x4", "float32", "+ / frozen, +"] in [*map(list, rows)]
    (frozen,) = (blame for blame in blames(answer) if blame.cause is Cause.FROZEN)
    assert frozen.module == "past" and frozen.confirmed


def test_patches_flattened_in_another_order_than_the_weights_are_a_fault(tmp_path: Path) -> None:
    answer = paired(tmp_path, "Patches", ["2x2x8x8"], port_kwargs={"last": True})
    found = [blame for blame in blames(answer) if blame.confirmed and not blame.latent]

    (line,) = (number for number, text in enumerate(_PORT.splitlines(), 1) if "# flattened" in text)
    assert not answer.aligned.only_bench and not answer.aligned.only_port
    assert (Cause.TRANSPOSE, line) in [(blame.cause, blame.line and blame.line.line) for blame in found]


def test_what_no_value_bears_out_has_no_counterpart(tmp_path: Path) -> None:
    answer = paired(tmp_path, "Listed", ["5x6"], port_kwargs={"unlike": True})

    assert [parameter.name for parameter in answer.aligned.only_port] == ["size"]
    assert [parameter.name for parameter in answer.aligned.only_bench] == [f"norms.{place}.size" for place in range(3)]
    (blame,) = [blame for blame in blames(answer) if blame.stage is Stage.PARAMETERS]
    assert blame.message.id == "pair_stage.cut_otherwise" and "--map" in blame.edit.text()
    # As many values on both sides are no missing ones, and nothing is judged by weights that were not carried over.
    assert not grouped(answer.blames).causes
