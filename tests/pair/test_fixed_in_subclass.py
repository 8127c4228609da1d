"""Layers of a user's own class: what it fixes or passes on is tried where the framework's constructor receives it."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.model.finding import roots
from trueline.pair.blame import also_in
from trueline.pair.report import findings

TORCH = """
import torch.nn.functional as F
from torch import nn


class Fixed(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__(dim, eps=1e-2)


class Held(nn.BatchNorm2d):
    def __init__(self, wide, **more):
        super().__init__(wide, **more)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(super().forward(x))


class Norms(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.first, self.norm, self.head = nn.Linear(6, 8), norm(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.norm(self.first(x)))


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3), Held(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3), Held(8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(self.bn2(self.conv2(self.bn(self.conv(x)))).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16, bias=bias), nn.Linear(16, 8)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))


class Blocks(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.one, self.two, self.head = Block(bias), Block(bias), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.two(self.one(x)))


def plain():
    return Norms(nn.LayerNorm)


def fixed():
    return Norms(Fixed)


def images():
    return Images()


def blocks(bias=True):
    return Blocks(bias)
"""
MINDSPORE = """
from mindspore import nn


class Fixed(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__((dim,), epsilon=1e-2)


class Held(nn.BatchNorm2d):
    def __init__(self, wide, **more):
        super().__init__(wide, momentum=0.9, **more)
        self.act = nn.ReLU()

    def construct(self, x):
        return self.act(super().construct(x))


class Norms(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.head = nn.Dense(6, 8), Fixed(8), nn.Dense(8, 3)

    def construct(self, x):
        return self.head(self.norm(self.first(x)))


class Images(nn.Cell):
    def __init__(self, made):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3, pad_mode="valid", has_bias=True), made()
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, pad_mode="valid", has_bias=True), made()
        self.fc = nn.Dense(8, 4)
        self.behind = None if isinstance(self.bn, Held) else nn.ReLU()

    def construct(self, x):
        x = self.bn(self.conv(x))
        x = self.conv2(x if self.behind is None else self.behind(x))
        x = self.bn2(x)
        return self.fc((x if self.behind is None else self.behind(x)).mean((2, 3)))


def fixed():
    return Norms()


def held(**more):
    return Images(lambda: Held(8, **more))


def behind():
    return Images(lambda: nn.BatchNorm2d(8, momentum=0.9))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixed")
    (folder / "mine_torch.py").write_text(TORCH, "utf-8")
    (folder / "mine_mindspore.py").write_text(MINDSPORE, "utf-8")
    return folder


@pytest.mark.parametrize("port", ["mine_torch:fixed", "mine_mindspore:fixed"])
def test_an_argument_that_a_class_fixes_is_confirmed(project: Path, port: str) -> None:
    found = trueline.pair("mine_torch:plain", port, "5x6", folder=project, steps=0)
    assert [(one.cause, one.module, one.confirmed) for one in found.blames] == [("eps", "norm", True)]


def test_a_norm_that_holds_its_activation_is_built_again_with_what_it_passes_on(project: Path) -> None:
    wishes = {"use_batch_statistics": False}
    found = trueline.pair("mine_torch:images", "mine_mindspore:held", "4x3x9x9", folder=project, steps=0)
    assert found.blames == []
    found = trueline.pair(
        "mine_torch:images", "mine_mindspore:held", "4x3x9x9", folder=project, steps=0, port_kwargs=wishes
    )
    assert [(one.cause, one.module, one.confirmed) for one in found.blames] == [("attribute", "bn", True)]
    assert "use_batch_statistics=False" in found.blames[0].message.text("en") and also_in(found.blames[0]) == ["bn2"]


def test_an_activation_behind_a_norm_is_the_same_as_one_that_it_holds_in_backward_too(project: Path) -> None:
    found = trueline.pair("mine_torch:images", "mine_mindspore:behind", "4x3x9x9", folder=project, steps=0)
    assert found.blames == []


def test_a_bias_that_blocks_of_one_class_lack_is_one_finding(project: Path) -> None:
    found = trueline.pair(
        "mine_torch:blocks", "mine_torch:blocks", "5x8", folder=project, steps=0, port_kwargs={"bias": False}
    )
    (root,) = roots(findings(found))
    assert root.extra["cause"] == "bias" and "the same in 1 more module, `two.up`" in root.message.text("en")
    (lacking,) = [one for one in findings(found) if one.extra["cause"] == "missing_parameter"]
    assert lacking.because == "pr.05"
