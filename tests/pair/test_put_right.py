"""All confirmed changes made at once: what they explain of the whole network, and what they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Cause, Stage
from trueline.pair.pairing import Paired

# The benchmark's stages hold their last norm, and begin with what makes their inputs smaller; its norms their
# activation. The port has lists of each, and activations of their own: the same function, cut into other blocks.
_BENCH = """
import torch
from torch import nn


class NormAct(nn.BatchNorm2d):
    def __init__(self, width):
        super().__init__(width)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(super().forward(x))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dw = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
        self.bn1 = NormAct(width)
        self.pw = nn.Conv2d(width, width, 1, bias=False)
        self.bn2 = NormAct(width)

    def forward(self, x):
        return x + self.bn2(self.pw(self.bn1(self.dw(x))))


class Stage(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.down_norm = nn.GroupNorm(2, width)
        self.block = Block(width)
        self.norm = nn.GroupNorm(2, width)

    def forward(self, x):
        return self.norm(self.block(self.down_norm(self.down(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.stem_norm = NormAct(8)
        self.stages = nn.ModuleList([Stage(8), Stage(8)])
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.stem_norm(self.stem(x))
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))
"""
_PORT = """
from mindspore import nn


class Block(nn.Cell):
    def __init__(self, width, act):
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(width, width, 3, pad_mode="pad", padding=1, group=width),
            nn.BatchNorm2d(width),
            act(),  # inner
            nn.Conv2d(width, width, 1, pad_mode="valid"),
            nn.BatchNorm2d(width),
            act(),  # outer
        )

    def construct(self, x):
        return x + self.body(x)


class Net(nn.Cell):
    def __init__(self, act=nn.SiLU, pad=True, residual=True):
        super().__init__()
        self.residual = residual
        padding = {"pad_mode": "pad", "padding": 1} if pad else {}
        self.stem = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1)
        self.stem_norm = nn.BatchNorm2d(8)
        self.stem_act = act()  # stem
        self.downs = nn.CellList([nn.Conv2d(8, 8, 3, stride=2, has_bias=True, **padding) for _ in range(2)])  # down
        self.down_norms = nn.CellList([nn.GroupNorm(2, 8) for _ in range(2)])
        self.blocks = nn.CellList([Block(8, act) for _ in range(2)])
        self.norms = nn.CellList([nn.GroupNorm(2, 8) for _ in range(2)])
        self.head = nn.Dense(8, 4)

    def construct(self, x):
        x = self.stem_act(self.stem_norm(self.stem(x)))
        for down, norm1, block, norm2 in zip(self.downs, self.down_norms, self.blocks, self.norms):
            y = norm1(down(x))
            x = norm2(block(y) if self.residual else block.body(y))  # body
        return self.head(x.mean((2, 3)))


def relu(**kwargs):
    return Net(nn.ReLU, **kwargs)
"""


def paired(folder: Path, port: str = "port:Net", **kwargs: object) -> Paired:
    (folder / "bench.py").write_text(_BENCH)
    (folder / "port.py").write_text(_PORT)
    return trueline.pair("bench:Net", port, "2x3x16x16", port_kwargs=kwargs, folder=folder, steps=0)


def line_of(comment: str) -> int:
    return next(place for place, line in enumerate(_PORT.splitlines(), 1) if line.endswith(f"# {comment}"))


def test_blocks_that_are_cut_otherwise_are_no_cause(tmp_path: Path) -> None:
    answer = paired(tmp_path)

    assert [blame.message.text() for blame in answer.blames if blame.stage is not Stage.INITIAL] == []


def test_beside_a_real_cause_they_are_none_either(tmp_path: Path) -> None:
    answer = paired(tmp_path, pad=False)
    found = [blame for blame in answer.blames if blame.stage is Stage.FORWARD]

    assert [(blame.cause, blame.confirmed, blame.line and blame.line.line) for blame in found] == [
        (Cause.PADDING, True, line_of("down"))
    ]
    together = answer.forward.corrected
    assert together is not None and together.equal and together.modules == 2
    assert together.before > 0.01 > 1e-4 > together.after
    assert f"{together.after:.2g}" in answer.stages[3].message.text()


def test_a_layer_that_is_wrong_at_one_line_is_looked_for_at_the_others(tmp_path: Path) -> None:
    answer = paired(tmp_path, "port:relu")
    found = [blame for blame in answer.blames if blame.stage is Stage.FORWARD and not blame.latent]

    assert {blame.line and blame.line.line for blame in found} == {line_of("inner"), line_of("outer"), line_of("stem")}
    assert all(blame.confirmed and blame.cause is Cause.ACTIVATION for blame in found)
    assert answer.forward.corrected is not None and answer.forward.corrected.equal


@pytest.mark.parametrize("pad", [True, False])
def test_code_that_is_wrong_is_still_found_beside_layers_that_are(tmp_path: Path, pad: bool) -> None:
    answer = paired(tmp_path, pad=pad, residual=False)
    found = {blame.cause for blame in answer.blames if blame.stage is Stage.FORWARD and blame.confirmed}

    assert found == {Cause.RESIDUAL} | (set() if pad else {Cause.PADDING})
    together = answer.forward.corrected
    assert together is not None and not together.equal


_SHALLOW = """
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(8, 8)
        self.last = nn.Dense(8, 4)

    def construct(self, x):
        return self.last(self.first(x))
"""
_NORMED = """
from torch import nn


class Net(nn.Sequential):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        return self.last(self.norm(self.first(x)))
"""


def test_a_norm_that_the_port_lacks_is_missing_whatever_it_is_initialised_with(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(_NORMED)
    (tmp_path / "port.py").write_text(_SHALLOW)
    answer = trueline.pair("bench:Net", "port:Net", "4x8", folder=tmp_path, steps=0)

    assert {parameter.name for parameter in answer.aligned.only_bench} == {"norm.weight", "norm.bias"}
    assert answer.stages[1].blames


_POINTS_LAST = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(3, 8, 1)
        self.norm = nn.BatchNorm1d(8)
        self.second = nn.Conv1d(8, 6, 1)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        return self.head(self.second(self.norm(self.first(x)).relu()).amax(-1))
"""
_POINTS_FIRST = """
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 8)
        self.norm = nn.BatchNorm1d(8)
        self.second = nn.Dense(8, 6)
        self.head = nn.Dense(6, 4)

    def construct(self, x):
        b, c, n = x.shape
        x = x.swapaxes(1, 2).reshape(b * n, c)
        x = self.second(ops.relu(self.norm(self.first(x)))).reshape(b, n, -1)
        return self.head(x.max(axis=1))
"""


def test_values_that_lie_otherwise_all_the_way_are_no_cause(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(_POINTS_LAST)
    (tmp_path / "port.py").write_text(_POINTS_FIRST)
    answer = trueline.pair("bench:Net", "port:Net", "2x3x7", folder=tmp_path, steps=0)

    assert [blame.message.text() for blame in answer.blames if blame.stage is not Stage.INITIAL] == []
