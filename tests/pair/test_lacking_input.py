"""An input that the code around a module leaves out is the fault of that code, not of the module."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline

NETS = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, mask=None):
        scores = self.q(x) @ self.k(x).transpose(1, 2) * self.scale
        return self.v((scores if mask is None else scores + mask).softmax(-1) @ x)


class Net(nn.Module):
    def __init__(self, masked, scale):
        super().__init__()
        self.attention, self.out = Attention(scale), nn.Linear(8, 4)
        self.mask = torch.full((5, 5), -100.0).triu(1) if masked else None

    def forward(self, x):
        return self.out(self.attention(x, self.mask))


def net(masked=True, scale=0.35):
    return Net(masked, scale)
"""


@pytest.mark.parametrize(("scale", "causes"), [(0.35, {"mask": ""}), (0.25, {"mask": "", "scale": "attention"})])
def test_a_mask_that_is_not_handed_on(tmp_path: Path, scale: float, causes: dict[str, str]) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    port = {"masked": False, "scale": scale}
    found = trueline.pair("nets:net", "nets:net", "2x5x8", port_kwargs=port, folder=tmp_path, steps=0)
    assert {one.cause: one.module for one in found.blames} == causes
    assert all(one.confirmed for one in found.blames)
