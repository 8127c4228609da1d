"""Ports as people write them: linear layers for 1x1 convolutions, other names for shortcuts, sizes that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Blame, Cause, Stage

_BENCH = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, stride=4)
        self.conv_head = nn.Conv2d(8, 16, 1)
        self.act = nn.Hardswish()
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = self.stem(x).mean((2, 3), keepdim=True)
        return self.fc(self.act(self.conv_head(x)).flatten(1))


class ConvNorm(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, kernel, padding=kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.bn(self.conv(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = ConvNorm(3)
        self.conv2 = ConvNorm(1)
        self.downsample = ConvNorm(1)

    def forward(self, x):
        shortcut = x
        x = self.conv2(torch.relu(self.conv1(x)))
        return torch.relu(x + self.downsample(shortcut))


class Shortcuts(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.b1 = Block()
        self.b2 = Block()

    def forward(self, x):
        return self.b2(self.b1(self.stem(x)))


class Single(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.bn = nn.BatchNorm1d(6)

    def forward(self, x):
        return self.bn(self.fc(x))


class GELU(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, x):
        return nn.functional.gelu(x)


class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.dw = nn.Conv2d(3, 6, 3, padding=1)
        self.fc1 = nn.Conv2d(6, 24, 1)
        self.act = GELU()
        self.fc2 = nn.Conv2d(24, 6, 1)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        x = self.dw(x)
        x = x + self.fc2(self.act(self.fc1(x)))
        return self.head(x.mean((2, 3)))
"""
_PORT = """
from mindspore import nn, ops


class Head(nn.Cell):
    def __init__(self, pad_mode="valid"):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, stride=4, pad_mode=pad_mode, has_bias=True)  # stem
        self.classifier = nn.SequentialCell(nn.Dense(8, 16), nn.HSwish(), nn.Dense(16, 5))

    def construct(self, x):
        return self.classifier(self.stem(x).mean((2, 3)))


class Single(nn.Cell):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.fc = nn.Dense(8, 6)
        self.bn = nn.BatchNorm1d(6, eps=eps)  # eps

    def construct(self, x):
        return self.bn(self.fc(x))


class Mixing(nn.Cell):
    def __init__(self, approximate=False):
        super().__init__()
        self.dw = nn.Conv2d(3, 6, 3, pad_mode="pad", padding=1, has_bias=True)
        self.fc1 = nn.Dense(6, 24)
        self.act = nn.GELU(approximate=approximate)  # gelu
        self.fc2 = nn.Dense(24, 6)
        self.head = nn.Dense(6, 4)

    def construct(self, x):
        x = self.dw(x)
        y = self.fc2(self.act(self.fc1(x.transpose(0, 2, 3, 1))))
        return self.head((x + y.transpose(0, 3, 1, 2)).mean((2, 3)))


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1)
        self.a_bn = nn.BatchNorm2d(8)
        self.b = nn.Conv2d(8, 8, 1)
        self.b_bn = nn.BatchNorm2d(8)

    def construct(self, x):
        return self.b_bn(self.b(ops.relu(self.a_bn(self.a(x)))))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(8, 8, 1)
        self.bn = nn.BatchNorm2d(8)
        self.f = Residual()

    def construct(self, x):
        return ops.relu(self.bn(self.proj(x)) + self.f(x))


class Shortcuts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.stages = nn.SequentialCell(Block(), Block())

    def construct(self, x):
        return self.stages(self.stem(x))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shapes")
    (place / "bench_nets.py").write_text(_BENCH)
    (place / "port_nets.py").write_text(_PORT)
    return place


def _found(folder: Path, name: str, size: str, *, steps: int = 0, **kwargs: object) -> list[Blame]:
    entries = f"bench_nets:{name}", f"port_nets:{name}"
    found = trueline.pair(*entries, size, folder=folder, steps=steps, port_kwargs=kwargs or None)
    return [blame for blame in found.blames if blame.stage is not Stage.INITIAL]


def test_a_linear_layer_is_a_convolution_of_one_pixel(folder: Path) -> None:
    assert _found(folder, "Head", "2x3x16x16") == []


def test_channels_may_be_last_in_between(folder: Path) -> None:
    assert _found(folder, "Mixing", "2x3x8x10") == []
    (blame,) = _found(folder, "Mixing", "2x3x8x10", approximate=True)
    assert (blame.cause, blame.confirmed) == (Cause.GELU_FORM, True)
    assert blame.line is not None and blame.line.line == _line("# gelu")
    assert "approximate=False in the benchmark" in blame.message.text("en")


def test_layers_of_one_shape_go_with_the_layers_that_feed_them(folder: Path) -> None:
    assert _found(folder, "Shortcuts", "2x3x8x8") == []


def test_what_differs_at_another_size_alone_is_said_as_that(folder: Path) -> None:
    (blame,) = _found(folder, "Head", "2x3x64x64", pad_mode="same")
    assert (blame.cause, blame.confirmed) == (Cause.PADDING, True)
    assert blame.line is not None and blame.line.line == _line("# stem")
    assert "equal at 2x3x64x64, differs at 2x3x65x65" in blame.message.text("en")


def test_a_single_sample_is_given_twice_where_training_refuses_one(folder: Path) -> None:
    assert _found(folder, "Single", "1x8", steps=2) == []
    found = _found(folder, "Single", "1x8", steps=2, eps=0.1)
    (blame,) = [blame for blame in found if blame.stage is Stage.FORWARD]
    assert (blame.cause, blame.confirmed, blame.line and blame.line.line) == (Cause.EPS, True, _line("# eps"))


def _line(mark: str) -> int:
    return 1 + next(place for place, line in enumerate(_PORT.splitlines()) if line.endswith(mark))
