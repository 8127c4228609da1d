"""Networks that are not made of the same parts: what has no counterpart is named, and the rest is compared."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import trueline
from trueline.model.report import Table
from trueline.pair.blame import Cause, Stage, also_in
from trueline.pair.pairing import Paired

TORCH = """
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width, norm, eps):
            super().__init__()
            self.conv = nn.Conv2d(width, width, 3, padding=1)
            self.norm = nn.BatchNorm2d(width, eps=eps) if norm else nn.Identity()

        def forward(self, x):
            return x + torch.relu(self.norm(self.conv(x)))

    class Net(nn.Module):
        def __init__(self, width=8, depth=3, norm=True, head=False, eps=1e-5, affine=True):
            super().__init__()
            self.stem = nn.Conv2d(3, width, 3, padding=1)
            self.blocks = nn.Sequential(*[Block(width, norm, eps) for _ in range(depth)])
            self.last = nn.LayerNorm(width, elementwise_affine=affine)
            self.fc = nn.Linear(width, 5)
            self.aux = nn.Linear(width, 7) if head else None

        def forward(self, x):
            x = self.last(self.blocks(self.stem(x)).mean((2, 3)))
            return (self.fc(x), self.aux(x)) if self.aux is not None else self.fc(x)
    """
MINDSPORE = """
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self, width, norm, eps):
            super().__init__()
            self.conv = nn.Conv2d(width, width, 3, pad_mode="pad", padding=1, has_bias=True)
            self.norm = nn.BatchNorm2d(width, eps=eps, momentum=0.9) if norm else nn.Identity()

        def construct(self, x):
            return x + ops.relu(self.norm(self.conv(x)))

    class Net(nn.Cell):
        def __init__(self, width=8, depth=3, norm=True, head=False, eps=1e-5):
            super().__init__()
            self.stem = nn.Conv2d(3, width, 3, pad_mode="pad", padding=1, has_bias=True)
            self.blocks = nn.SequentialCell([Block(width, norm, eps) for _ in range(depth)])
            self.final = nn.LayerNorm((width,), epsilon=1e-5)
            self.fc = nn.Dense(width, 5)
            self.aux = nn.Dense(width, 7) if head else None

        def construct(self, x):
            x = self.final(self.blocks(self.stem(x)).mean((2, 3)))
            return (self.fc(x), self.aux(x)) if self.aux is not None else self.fc(x)
    """


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("net_torch", TORCH), ("net_ms", MINDSPORE)):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path


def _pair(folder: Path, port: str = "torch", bench: dict[str, Any] | None = None, **kwargs: Any) -> Paired:
    sides = "net_torch:Net", f"net_{port}:Net"
    return trueline.pair(*sides, "2x3x12x12", bench_kwargs=bench, port_kwargs=kwargs, folder=folder, steps=0)


def _lone(found: Paired) -> list[list[str]]:
    stage = next(one for one in found.stages if one.stage is Stage.PARAMETERS)
    tables = [block for block in stage.blocks if isinstance(block, Table) and len(block.columns) == 5]
    assert stage.rules_out is None
    return [[str(cell) for cell in row] for row in tables[0].rows if str(row[1]).count("(")]


@pytest.mark.parametrize("port", ["torch", "ms"])
def test_layers_that_the_port_lacks_are_named_though_frameworks_may_do_without_their_tensors(
    folder: Path, port: str
) -> None:
    found = _pair(folder, port, norm=False)
    (missing,) = (blame for blame in found.blames if blame.cause is Cause.MISSING_PARAMETER)
    assert missing.other_module == "blocks.0.norm" and missing.other_line is not None
    assert len(also_in(missing)) == 2
    assert [row[:2] for row in _lone(found)] == [
        ["benchmark", f"blocks.{place}.norm (BatchNorm2d)"] for place in range(3)
    ]
    assert Cause.NORMALISATION in {blame.cause for blame in found.blames}


@pytest.mark.parametrize("port", ["torch", "ms"])
def test_one_block_less_is_one_module_and_the_others_are_compared(folder: Path, port: str) -> None:
    found = _pair(folder, port, depth=2, eps=1e-2)
    (missing,) = (blame for blame in found.blames if blame.cause is Cause.MISSING_PARAMETER)
    assert missing.other_module == "blocks.2" and len(missing.evidence) == 4
    assert missing.line is not None and missing.line.line
    (row,) = _lone(found)
    assert row[:2] == ["benchmark", "blocks.2 (Block)"] and "conv.weight 8x8x3x3" in row[2] and row[3] == "600"
    (eps,) = (blame for blame in found.blames if blame.cause is Cause.EPS)
    assert eps.confirmed and eps.module == "blocks.0.norm"


def test_a_head_too_many_is_the_port_s_and_the_rest_is_compared(folder: Path) -> None:
    found = _pair(folder, "ms", head=True, eps=1e-2)
    (row,) = _lone(found)
    assert row[:2] == ["port", "aux (Dense)"]
    assert [(blame.cause, blame.confirmed) for blame in found.blames if blame.stage is Stage.FORWARD] == [
        (Cause.EPS, True)
    ]


def test_another_width_is_one_cause(folder: Path) -> None:
    found = _pair(folder, width=6)
    (shape,) = found.blames
    assert shape.cause is Cause.SHAPE and (shape.bench, shape.port) == (8, 6) and shape.module == "stem"
    assert all(stage.rules_out is None for stage in found.stages if stage.stage in (Stage.FORWARD, Stage.BACKWARD))


def test_tensors_that_a_framework_always_has_say_nothing_where_both_have_the_layer(folder: Path) -> None:
    found = _pair(folder, "ms", bench={"affine": False})
    assert not [blame for blame in found.blames if blame.stage is Stage.PARAMETERS]
