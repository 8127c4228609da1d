"""Networks as libraries build them: frameworks imported by the factory alone, layers that hold their activation."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Cause, Stage

_LIBRARY = '''
import torch
from torch import nn


class NormAct(nn.BatchNorm2d):
    """A normalisation that holds its activation."""

    def __init__(self, width, eps=1e-5, act=nn.ReLU):
        super().__init__(width, eps=eps)
        self.drop = nn.Identity()
        self.act = act()

    def forward(self, x):
        return self.act(self.drop(super().forward(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn = NormAct(8)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.last = nn.Conv2d(8, 4, 1)
        self.bn2 = NormAct(4, act=nn.SiLU)
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        x = self.bn2(self.last(self.pool(self.bn(self.conv(x)))))
        return self.fc(x.mean((2, 3)))
'''
_PORT = """
from mindspore import nn


class Net(nn.Cell):
    def __init__(self, eps=1e-5, act=nn.SiLU, pad=True):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1),
            nn.BatchNorm2d(8, eps=eps),  # eps
            nn.ReLU(),
            nn.MaxPool2d(3, 2, pad_mode="pad", padding=1) if pad else nn.MaxPool2d(3, 2, pad_mode="same"),  # pool
            nn.Conv2d(8, 4, 1, has_bias=True),
            nn.BatchNorm2d(4),
            act(),  # act
        )
        self.fc = nn.Dense(4, 5)

    def construct(self, x):
        return self.fc(self.features(x).mean((2, 3)))
"""
# As in a file that offers networks of several packages: nothing is imported before one is asked for.
_FACTORIES = """
def bench():
    import library

    return library.Net()


def port(**kwargs):
    import port_of_library
    from mindspore import nn

    if "act" in kwargs:
        kwargs["act"] = getattr(nn, kwargs["act"])
    return port_of_library.Net(**kwargs)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("library")
    (place / "library.py").write_text(_LIBRARY)
    (place / "port_of_library.py").write_text(_PORT)
    (place / "factories.py").write_text(_FACTORIES)
    return place


def _line(mark: str) -> int:
    return 1 + next(place for place, line in enumerate(_PORT.splitlines()) if line.endswith(f"# {mark}"))


def _causes(folder: Path, **kwargs: object) -> list[tuple[Cause, bool, str, int]]:
    found = trueline.pair(
        "factories:bench", "factories:port", "2x3x16x16", folder=folder, steps=0, port_kwargs=kwargs or None
    )
    return [
        (blame.cause, blame.confirmed, Path(blame.line.file).name if blame.line else "", blame.line.line)
        for blame in found.blames
        if blame.line is not None and blame.stage is Stage.FORWARD
    ]


def test_a_port_that_has_the_activation_behind_the_layer_is_equal(folder: Path) -> None:
    assert _causes(folder) == []


@pytest.mark.parametrize(
    ("kwargs", "cause", "mark"),
    [
        ({"eps": 1e-3}, Cause.EPS, "eps"),
        ({"pad": False}, Cause.PADDING, "pool"),
        ({"act": "ReLU"}, Cause.ACTIVATION, "act"),
    ],
)
def test_what_is_built_otherwise_is_confirmed_at_its_line(
    folder: Path, kwargs: dict[str, object], cause: Cause, mark: str
) -> None:
    assert _causes(folder, **kwargs) == [(cause, True, "port_of_library.py", _line(mark))]


_HOLDING = """
import torch
from torch import nn


class NormAct(nn.BatchNorm2d):
    def __init__(self, width, momentum):
        super().__init__(width, momentum=momentum)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(super().forward(x))


def net(momentum=0.05):
    return nn.Sequential(nn.Conv2d(3, 8, 3), NormAct(8, momentum), nn.Conv2d(8, 4, 1))
"""


def test_statistics_of_a_layer_that_holds_its_activation_are_compared(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(_HOLDING)
    assert trueline.pair("nets:net", "nets:net", "4x3x8x8", folder=tmp_path, steps=0).blames == []
    found = trueline.pair("nets:net", "nets:net", "4x3x8x8", folder=tmp_path, steps=0, port_kwargs={"momentum": 0.3})
    (blame,) = [blame for blame in found.blames if blame.confirmed]
    assert (blame.cause, blame.module) == (Cause.MOMENTUM, "1")
