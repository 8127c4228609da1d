"""Code between layers that is otherwise for values far out only: no ordinary input shows it."""

from __future__ import annotations

from pathlib import Path

import trueline

NETS = """
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, bounded):
        super().__init__()
        self.bounded = bounded
        self.first = nn.Conv2d(3, 4, 3)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        return self.second(self.bounded(self.first(x)).mean((2, 3)))


def six():
    return Net(F.relu6)


def clipped():
    return Net(lambda x: torch.clamp(x, 0, 6))


def unbounded():
    return Net(F.relu)
"""


def test_a_bound_that_is_missing_is_latent(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    found = trueline.pair("nets:six", "nets:unbounded", "2x3x8x8", folder=tmp_path, steps=0)
    (blame,) = found.blames
    assert (blame.cause, blame.confirmed, blame.latent) == ("activation", True, True)
    assert blame.line is not None and blame.line.file == str(tmp_path / "nets.py")


def test_the_same_bound_in_other_words_is_none(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    assert trueline.pair("nets:six", "nets:clipped", "2x3x8x8", folder=tmp_path, steps=0).blames == []
