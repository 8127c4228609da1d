"""Correct ports of transformers and diffusion networks: what a framework does otherwise on the way is no difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueline
from trueline.pair.blame import Stage, StageVerdict

_TORCH = """
import math

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(8, 8)
        self.key = nn.Linear(8, 8)
        self.out = nn.Linear(8, 8)

    def forward(self, x, mask):
        scores = self.query(x) @ self.key(x).transpose(1, 2) + mask
        return x + self.out(scores.softmax(-1) @ x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Linear(8, 8)
        self.time = nn.Linear(8, 8)
        self.h = nn.ModuleList(Block() for _ in range(3))
        self.scale = nn.Parameter(torch.tensor(2.5))

    def forward(self, x, t):
        freqs = torch.exp(-math.log(10000.0) * torch.arange(4).float() / 4)
        angles = t[:, None].float() * freqs[None]
        x = self.token(x) + self.time(torch.cat([angles.sin(), angles.cos()], -1)).unsqueeze(1)
        mask = torch.triu(torch.full((5, 5), float("-inf")), 1)
        for block in self.h[:2]:
            x = block(x, mask)
        return x * self.scale.exp()
"""
_MINDSPORE = """
import math

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.query = nn.Dense(8, 8)
        self.key = nn.Dense(8, 8)
        self.out = nn.Dense(8, 8)

    def construct(self, x, mask):
        scores = ops.matmul(self.query(x), self.key(x).swapaxes(1, 2)) + mask
        return x + self.out(ops.matmul(ops.softmax(scores, axis=-1), x))


class Net(nn.Cell):
    def __init__(self, masked=1):
        super().__init__()
        self.masked = masked
        self.token = nn.Dense(8, 8)
        self.time = nn.Dense(8, 8)
        self.h = nn.CellList([Block() for _ in range(3)])
        self.scale = Parameter(Tensor(2.5, ms.float32))

    def construct(self, x, t):
        freqs = ops.exp(-math.log(10000.0) * ops.arange(4).astype(ms.float32) / 4)
        angles = t[:, None].astype(ms.float32) * freqs[None]
        x = self.token(x) + self.time(ops.cat([ops.sin(angles), ops.cos(angles)], axis=-1)).expand_dims(1)
        mask = ops.triu(ops.full((5, 5), float("-inf")), self.masked)  # whole numbers
        for block in self.h[:2]:
            x = block(x, mask)
        return x * self.scale.exp()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("transformers")
    (place / "net_torch.py").write_text(_TORCH)
    (place / "net_ms.py").write_text(_MINDSPORE)
    return place


def _inputs() -> list[np.ndarray]:
    random = np.random.default_rng(3)
    # Sines of large angles, in which a single rounding comes far.
    return [random.standard_normal((2, 5, 8), np.float32), np.array([997, 641])]


def test_slices_of_lists_large_angles_masks_and_lone_scalars_are_no_difference(folder: Path) -> None:
    found = trueline.pair("net_torch:Net", "net_ms:Net", _inputs(), folder=folder, steps=2)
    assert [blame.message.text() for blame in found.blames] == []


def test_a_mask_at_other_places_is_found(folder: Path) -> None:
    found = trueline.pair("net_torch:Net", "net_ms:Net", _inputs(), folder=folder, steps=0, port_kwargs={"masked": 2})
    assert any(blame.stage is Stage.FORWARD for blame in found.blames)


_DIVERGING = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(30.0 * x).exp()
"""


def test_a_training_that_diverges_by_itself_says_nothing_of_the_port(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(_DIVERGING)
    given = [np.full((2, 4), 0.1, np.float32)]
    found = trueline.pair("net:Net", "net:Net", given, folder=tmp_path, steps=4)
    (curve,) = [stage for stage in found.stages if stage.stage is Stage.CURVE]
    assert curve.verdict is not StageVerdict.FOUND
