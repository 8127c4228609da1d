"""A curve that parts follows from what moves the loss, which is told first."""

from __future__ import annotations

from pathlib import Path

import trueline
from trueline.pair.report import findings

NETS = """
from torch import nn


class Net(nn.Module):
    def __init__(self, p, momentum, slope):
        super().__init__()
        self.first, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8, momentum=momentum)
        self.drop, self.act, self.last = nn.Dropout(p), nn.LeakyReLU(slope), nn.Linear(8, 4)

    def forward(self, x):
        return self.last(self.act(self.drop(self.norm(self.first(x)))))


def net(p=0.1, momentum=0.1, slope=0.01):
    return Net(p, momentum, slope)
"""


def _findings(folder: Path, **port: float) -> list[tuple[str, str | None]]:
    (folder / "nets.py").write_text(NETS)
    found = trueline.pair("nets:net", "nets:net", "6x8", port_kwargs=port, folder=folder, steps=3)
    return [(one.extra["cause"], one.because) for one in findings(found)]


def test_what_moves_the_loss_comes_first_and_the_curve_follows_from_it(tmp_path: Path) -> None:
    (first, *rest) = _findings(tmp_path, p=0.4, momentum=0.3, slope=0.3)
    assert first == ("slope", None)
    assert {cause for cause, because in rest if because is None} == {"dropout", "momentum"}
    assert ("unknown", "pr.05") in rest


def test_what_cannot_move_the_loss_leaves_the_curve_alone(tmp_path: Path) -> None:
    assert {cause for cause, _ in _findings(tmp_path, p=0.4, momentum=0.3)} == {"dropout", "momentum"}
