"""What only another size of input shows is said as that; networks that take few sizes are asked for a fitting one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

import trueline
from trueline.pair.blame import Cause, Stage
from trueline.pair.forward.stage import other_sizes

TORCH = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, ceil=False, even=False, only=0):
            super().__init__()
            self.even, self.only = even, only
            self.conv = nn.Conv2d(3, 4, 3, padding=1)
            self.pool = nn.MaxPool2d(2, 2, ceil_mode=ceil)

        def forward(self, x):
            if self.only and x.shape[2] != self.only:
                raise ValueError("one size only")
            if self.even and x.shape[2] % 2:
                raise ValueError("no odd sizes")
            x = torch.relu(self.conv(x))
            return self.pool(x) if not self.even else self.pool(x).repeat_interleave(2, 2).repeat_interleave(2, 3) + x
    """


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(textwrap.dedent(TORCH), encoding="utf-8")
    return tmp_path


def test_only_the_other_size_shows_it(folder: Path) -> None:
    found = trueline.pair("net:Net", "net:Net", "2x3x16x16", port_kwargs={"ceil": True}, folder=folder, steps=0)
    (blame,) = found.blames
    assert blame.cause is Cause.CEIL_MODE and blame.confirmed
    assert "equal at 2x3x16x16, differs at 2x3x17x17" in blame.message.text()


def test_a_size_that_only_the_port_refuses_is_said_and_another_is_tried(folder: Path) -> None:
    one = {"port_kwargs": {"only": 16}, "folder": folder, "steps": 0}
    found = trueline.pair("net:Net", "net:Net", "2x3x16x16", **one)
    said = next(stage.message.text() for stage in found.stages if stage.stage is Stage.FORWARD)
    assert "the benchmark takes 2x3x17x17, the port does not" in said and "one size only" in said
    even = trueline.pair("net:Net", "net:Net", "2x3x16x16", kwargs={"even": True}, folder=folder, steps=0)
    assert [run.reference.recording.outputs[0].shape[2] for run in even.forward.sizes] == [32]


def test_sizes_keep_batch_and_channels() -> None:
    def sides(size: int) -> list[tuple[int, ...]]:
        return [each[0].shape for each in other_sizes([np.zeros((2, 3, size, size), np.float32)])]

    assert sides(16) == [(2, 3, 17, 17), (2, 3, 32, 32)]
    assert sides(224) == [(2, 3, 85, 85), (2, 3, 64, 64)]
    assert sides(225) == [(2, 3, 84, 84), (2, 3, 64, 64)]
    assert other_sizes([np.zeros((2, 3), np.float32)]) == []
