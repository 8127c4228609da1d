"""The same values in other shapes, orders of axes and kinds of masks are no difference; all else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueline
from trueline.pair.ops.channels import axes_in, laid_as
from trueline.pair.ops.mask_forms import Shown, hide_the_same

NETS = """
import torch
from torch import nn
from torch.nn import functional as F


class Padded(nn.Module):
    def __init__(self, own):
        super().__init__()
        self.own = own
        self.conv = nn.Conv2d(3, 4, 3, padding=0 if own else 1)
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=not own)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = self.conv(F.pad(x, (1, 1, 1, 1)) if self.own else x)
        if self.own:
            x = F.pad(x, (0, 1 - x.shape[3] % 2, 0, 1 - x.shape[2] % 2), value=-1e9)
        return self.fc(self.pool(x).mean((2, 3)))


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(3, 16, 1)
        self.bn1 = nn.BatchNorm1d(16)
        self.conv2 = nn.Conv1d(32, 4, 1)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        top = x.max(dim=2, keepdim=True)[0].expand(-1, -1, x.shape[2])
        return F.softmax(self.conv2(torch.cat([x, top], dim=1)), dim=1)


class Last(nn.Module):
    def __init__(self, axis):
        super().__init__()
        self.axis = axis
        self.conv1 = nn.Linear(3, 16)
        self.bn1 = nn.BatchNorm1d(16)
        self.conv2 = nn.Linear(32, 4)

    def forward(self, x):
        x = x.transpose(1, 2)
        shape = x.shape
        x = F.relu(self.bn1(self.conv1(x).reshape(-1, 16))).reshape(shape[0], shape[1], 16)
        top = torch.amax(x, 1, True).expand(-1, shape[1], -1)
        y = self.conv2(torch.cat([x, top], dim=2))
        y = F.softmax(y, dim=self.axis)
        return y.transpose(1, 2)


class Block(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.form = form
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.out = nn.Linear(8, 8)

    def forward(self, x, mask):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 8**0.5
        if self.form == "added":
            scores = scores + mask
        elif self.form == "seen":
            scores = scores.masked_fill(mask == 0, -3e4)
        else:
            scores = scores.masked_fill(mask, -1e9)
        return x + self.out(scores.softmax(-1) @ self.v(x))


class Masked(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.form = form
        self.first = nn.Linear(4, 8)
        self.blocks = nn.ModuleList([Block(form) for _ in range(2)])

    def forward(self, x):
        mask = self.hidden(x.shape[1])[None]
        if self.form == "added":
            mask = torch.zeros(mask.shape).masked_fill(mask, float("-inf")).expand(x.shape[0], -1, -1)
        elif self.form == "seen":
            mask = (~mask).long()
        x = self.first(x)
        for block in self.blocks:
            x = block(x, mask)
        return x


    def hidden(self, places):
        return torch.triu(torch.ones(places, places, dtype=torch.bool), 1)


class OneOff(Masked):
    def hidden(self, places):
        return torch.triu(torch.ones(places, places, dtype=torch.bool), 2)


class Data(Masked):
    def hidden(self, places):
        return torch.tensor([[there > here for there in range(places)] for here in range(places)])


class DataOneOff(Masked):
    def hidden(self, places):
        return torch.tensor([[there > here + 1 for there in range(places)] for here in range(places)])


class Half(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.mask = torch.as_tensor(mask)
        self.first = nn.Linear(4, 4)

    def forward(self, x):
        rest = 1 - self.mask
        kept = x * self.mask
        return kept + rest * (x + self.first(kept) * rest)


class Coupled(nn.Module):
    def __init__(self):
        super().__init__()
        self.halves = nn.ModuleList([Half(torch.tensor([1.0, 0.0, 1.0, 0.0])) for _ in range(2)])
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        for half in self.halves:
            x = half(x)
        return self.last(x)


class CoupledOtherwise(Coupled):
    def __init__(self):
        super().__init__()
        self.halves = nn.ModuleList([Half(torch.tensor([0.0, 1.0, 0.0, 1.0])) for _ in range(2)])


class Slopes(nn.Module):
    slope = 0.5

    def __init__(self, fill):
        super().__init__()
        self.fill = fill
        self.first = nn.Linear(4, 8)
        self.block = Block("added")

    def forward(self, x):
        places = torch.arange(x.shape[1])
        apart = (places[None] - places[:, None]).float()
        bias = (apart * self.slope).masked_fill(apart > 0, self.fill)
        return self.block(self.first(x), bias)


class Steeper(Slopes):
    slope = 1.0


class Deep(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(60)])
        self.act = nn.ReLU() if module else F.relu

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(self.act(x))
        return x


def padding(): return Padded(False)
def padded(): return Padded(True)
def first(): return First()
def last(): return Last(2)
def other_axis(): return Last(1)
def added(): return Masked("added")
def truths(): return Masked("truths")
def seen(): return Masked("seen")
def one_off(): return OneOff("truths")
def data(): return Data("truths")
def data_one_off(): return DataOneOff("truths")
def coupled(): return Coupled()
def inverted(): return CoupledOtherwise()
def infinite(): return Slopes(float("-inf"))
def large(): return Slopes(-1e9)
def steeper(): return Steeper(-1e9)
def deep(): return Deep(False)
def deep_layers(): return Deep(True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("representations")
    (made / "nets.py").write_text(NETS)
    return made


def blames(folder: Path, bench: str, port: str, shape: str) -> list[tuple[str, bool, str]]:
    found = trueline.pair(f"nets:{bench}", f"nets:{port}", shape, folder=folder, steps=0)
    lines = NETS.splitlines()
    return [
        (blame.cause.value, blame.confirmed, lines[blame.line.line - 1].strip() if blame.line else "")
        for blame in found.blames
    ]


@pytest.mark.parametrize(
    ("bench", "port", "shape"),
    [
        ("padding", "padded", "2x3x10x12"),
        ("padding", "padded", "2x3x9x11"),
        ("first", "last", "2x3x20"),
        ("added", "truths", "2x5x4"),
        ("truths", "added", "2x5x4"),
        ("added", "seen", "2x5x4"),
        ("added", "data", "2x5x4"),
        ("truths", "seen", "2x5x4"),
        ("infinite", "large", "2x5x4"),
        ("deep", "deep_layers", "2x6"),
    ],
)
def test_another_form_of_the_same_is_no_difference(folder: Path, bench: str, port: str, shape: str) -> None:
    assert blames(folder, bench, port, shape) == []


def test_a_softmax_over_another_axis_shows_where_channels_lie_last(folder: Path) -> None:
    assert blames(folder, "first", "other_axis", "2x3x20") == [("axis", True, "y = F.softmax(y, dim=self.axis)")]


def test_a_mask_of_other_places_is_one_in_another_form_too(folder: Path) -> None:
    found = [blame for blame in blames(folder, "added", "one_off", "2x5x4") if blame[1]]
    # The mask, or the number that makes it another.
    assert [cause for cause, _, _ in found] in (["mask"], ["attribute"])
    assert found[0][2] == "return torch.triu(torch.ones(places, places, dtype=torch.bool), 2)"


def test_a_constant_stands_where_it_is_made(folder: Path) -> None:
    found = [blame for blame in blames(folder, "added", "data_one_off", "2x5x4") if blame[1]]
    (line,) = {line for cause, _, line in found if cause == "mask"}
    assert "here + 1" in line


def test_a_mask_that_is_inverted_is_one_difference_where_it_is_given(folder: Path) -> None:
    (found,) = blames(folder, "coupled", "inverted", "3x4")
    assert found[:2] == ("mask", True)
    assert "[0.0, 1.0, 0.0, 1.0]" in found[2]


def test_what_is_masked_on_both_sides_hides_no_factor(folder: Path) -> None:
    (found,) = blames(folder, "infinite", "steeper", "2x5x4")
    assert found == ("scale", True, "bias = (apart * self.slope).masked_fill(apart > 0, self.fill)")


def test_masks_are_told_by_the_places_that_they_hide() -> None:
    hidden = np.triu(np.ones((4, 4), bool), 1)
    added = np.where(hidden, -np.inf, 0.0).astype(np.float32)
    assert hide_the_same(hidden[None, None], added) is Shown.ALIKE
    assert hide_the_same(np.broadcast_to(hidden, (2, 3, 4, 4)), added) is Shown.ALIKE
    assert hide_the_same(~hidden, hidden) is Shown.BY_USE
    assert hide_the_same((~hidden).astype(np.int64), added) is Shown.BY_USE
    assert hide_the_same(np.triu(np.ones((4, 4), bool), 2), added) is None
    assert hide_the_same(np.random.default_rng(0).standard_normal((4, 4)), added) is None


def test_axes_are_named_as_code_counts_them_that_has_channels_last() -> None:
    assert axes_in((2, 3, 5), (2, 5, 3), [-2]) == (-1,)
    assert axes_in((2, 3, 4, 5), (2, 4, 5, 3), [-2, -1]) == (-3, -2)
    assert axes_in((2, 3, 4, 5), (2, 20, 3), [-2, -1]) == (-2,)
    assert axes_in((2, 3, 4, 5), (2, 20, 3), [-1]) is None
    assert axes_in((2, 3, 5), (2, 3, 5), [-2]) is None


def test_places_lie_in_one_axis_or_in_several() -> None:
    array = np.arange(30).reshape(2, 3, 5)
    flat = laid_as(array, (10, 3))
    assert np.array_equal(flat, np.moveaxis(array, 1, -1).reshape(10, 3))
    assert np.array_equal(laid_as(flat, (2, 3, 5)), array)
    assert np.array_equal(laid_as(np.moveaxis(array, 1, -1), (10, 3)), flat)
