"""Networks that do not train on what they are given: on two samples where one is refused, else evaluation alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

import trueline
from trueline.pair.blame import Cause, Stage, StageVerdict
from trueline.pair.forward.training import several
from trueline.pair.pairing import Paired
from trueline.pair.report import result

TORCH = """
    import torch
    from torch import nn

    class Pooled(nn.Module):
        def __init__(self, momentum=0.1, eps=1e-5):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)
            self.norm = nn.BatchNorm2d(4, eps=eps, momentum=momentum)
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            x = self.norm(self.conv(x).mean((2, 3), keepdim=True))
            return self.head(torch.relu(x).flatten(1))

    class Scaled(Pooled):
        def forward(self, x, scale):
            return super().forward(x * scale.reshape(1, 3, 1, 1))

    class Tokens(nn.Module):
        def __init__(self, momentum=0.1):
            super().__init__()
            self.words = nn.Embedding(9, 4)
            self.norm = nn.BatchNorm1d(4, momentum=momentum)

        def forward(self, tokens, mask):
            return self.norm((self.words(tokens) * mask.unsqueeze(-1)).sum(1))

    class Sequence(nn.Module):
        def __init__(self, momentum=0.1):
            super().__init__()
            self.rnn = nn.LSTM(6, 4)
            self.norm = nn.BatchNorm1d(4, momentum=momentum)

        def forward(self, x):
            return self.norm(self.rnn(x)[0][-1])

    class Fixed(Pooled):
        def forward(self, x):
            x = self.norm(self.conv(x).mean((0, 2, 3), keepdim=True))
            return self.head(torch.relu(x).reshape(1, 4))

    class NoSlope(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("no slope")

    class Forwards(Pooled):
        def forward(self, x):
            return NoSlope.apply(super().forward(x))
    """
MINDSPORE = """
    from mindspore import nn, ops

    class Pooled(nn.Cell):
        def __init__(self, momentum=0.1, eps=1e-5):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=True)
            self.norm = nn.BatchNorm2d(4, eps=eps, momentum=1 - momentum)
            self.head = nn.Dense(4, 2)

        def construct(self, x):
            x = self.norm(self.conv(x).mean((2, 3), keep_dims=True))
            return self.head(ops.relu(x).reshape(x.shape[0], 4))

    class Fixed(Pooled):
        def construct(self, x):
            x = self.norm(self.conv(x).mean((0, 2, 3), keep_dims=True))
            return self.head(ops.relu(x).reshape(1, 4))

    class Forwards(Pooled):
        def construct(self, x):
            return super().construct(x) * 2
    """


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("net_torch", TORCH), ("net_ms", MINDSPORE)):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path


def _pair(folder: Path, bench: str, port: str, input: str | list[str], **options: object) -> Paired:
    return trueline.pair(f"net_{bench}", f"net_{port}", input, folder=folder, **{"steps": 2, **options})


def _stage(found: Paired, stage: Stage) -> tuple[StageVerdict, str]:
    (one,) = (each for each in found.stages if each.stage is stage)
    return one.verdict, one.message.text()


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("Pooled", "1x3x12x12"),
        ("Scaled", ["1x3x12x12", "3"]),
        ("Tokens", ["1x7:int64:0-9", "1x7"]),
        ("Sequence", "5x1x6"),
    ],
)
def test_one_sample_is_given_twice_along_the_batch(folder: Path, name: str, input: str | list[str]) -> None:
    clean = _pair(folder, f"torch:{name}", f"torch:{name}", input)
    assert clean.blames == [] and clean.forward.left_out is None
    assert _stage(clean, Stage.BACKWARD)[0] is StageVerdict.PASSED
    assert _stage(clean, Stage.CURVE)[0] is StageVerdict.PASSED
    faulty = _pair(folder, f"torch:{name}", f"torch:{name}", input, port_kwargs={"momentum": 0.3}, steps=0)
    assert [(blame.cause, blame.module, blame.confirmed) for blame in faulty.blames] == [(Cause.MOMENTUM, "norm", True)]


def test_across_frameworks_too(folder: Path) -> None:
    found = _pair(folder, "torch:Pooled", "ms:Pooled", "1x3x12x12", port_kwargs={"momentum": 0.3})
    assert [(blame.cause, blame.confirmed) for blame in found.blames] == [(Cause.MOMENTUM, True)]
    assert _stage(found, Stage.CURVE)[0] is StageVerdict.PASSED
    below = _pair(folder, "torch:Pooled", "ms:Pooled", "1x3x12x12", port_kwargs={"momentum": 0.3}, module="norm")
    assert [(blame.cause, blame.confirmed) for blame in below.blames] == [(Cause.MOMENTUM, True)]


def test_where_training_is_refused_whatever_the_batch_evaluation_stands(folder: Path) -> None:
    clean = _pair(folder, "torch:Fixed", "ms:Fixed", "1x3x12x12")
    assert clean.blames == [] and clean.forward.trained is None
    for stage in (Stage.FORWARD, Stage.BACKWARD, Stage.CURVE):
        verdict, text = _stage(clean, stage)
        assert "training not compared" in text and "Expected more than 1 value per channel" in text
        assert verdict is (StageVerdict.PASSED if stage is Stage.FORWARD else StageVerdict.SKIPPED)
    said = result(clean)
    assert said.exit == 0 and "training not compared" in said.conclusion.text()
    faulty = _pair(folder, "torch:Fixed", "ms:Fixed", "1x3x12x12", port_kwargs={"eps": 1e-2})
    assert (Cause.EPS, True) in [(blame.cause, blame.confirmed) for blame in faulty.blames]


@pytest.mark.parametrize("sides", [("torch:Forwards", "ms:Forwards"), ("ms:Forwards", "torch:Forwards")])
def test_where_one_side_has_no_backward_pass_forward_stands_in_training_too(
    folder: Path, sides: tuple[str, str]
) -> None:
    clean = _pair(folder, *sides, "2x3x12x12")
    assert clean.blames == [] and clean.forward.trained is not None
    verdict, text = _stage(clean, Stage.BACKWARD)
    assert verdict is StageVerdict.SKIPPED and "backward not compared" in text and "no slope" in text
    faulty = _pair(folder, *sides, "2x3x12x12", port_kwargs={"momentum": 0.3}, steps=0)
    assert [(blame.cause, blame.confirmed) for blame in faulty.blames] == [(Cause.MOMENTUM, True)]


def test_axes_that_may_be_the_batch() -> None:
    def shapes(*given: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
        return [[array.shape for array in each] for each in several([np.zeros(shape, np.float32) for shape in given])]

    assert shapes((1, 3, 4)) == [[(2, 3, 4)]]
    assert shapes((2, 3), (4,)) == []
    assert shapes((1, 3), (1,)) == [[(2, 3), (2,)], [(2, 3), (1,)]]
    assert shapes((5, 1, 6), (1, 1, 4)) == [[(5, 1, 6), (2, 1, 4)], [(5, 2, 6), (1, 2, 4)]]
    assert shapes(()) == []
