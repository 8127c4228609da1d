"""Numbers in the port's own code that the benchmark has otherwise: named with both values and lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueline
from trueline.pair.blame import Cause, Stage

_BENCH = """
import torch
from torch import nn
from torch.nn import functional as F


class Std(nn.Conv2d):
    def forward(self, x):
        flat = self.weight.reshape(1, self.out_channels, -1)
        w = F.batch_norm(flat, None, None, training=True, momentum=0.0, eps=1e-3).reshape_as(self.weight)
        return F.conv2d(x, w, self.bias, self.stride, self.padding)


class Rms(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Std(3, 8, 3, padding=1)
        self.norm = Rms(8)
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        x = self.norm(self.a(x).flatten(2).transpose(1, 2))
        scores = (self.q(x) @ self.k(x).transpose(1, 2)) * 0.5
        return self.fc(torch.softmax(scores, -1) @ x)
"""
_PORT = """
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class Std(nn.Conv2d):
    def construct(self, x):
        m = self.weight.mean((1, 2, 3), keep_dims=True)
        v = ((self.weight - m) ** 2).mean((1, 2, 3), keep_dims=True)
        w = (self.weight - m) / ops.sqrt(v + {std})  # std
        return ops.bias_add(ops.conv2d(x, w, pad_mode="pad", padding=1), self.bias)


class Rms(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones(d, np.float32)), name="weight")

    def construct(self, x):
        return self.weight * x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + {rms})  # rms


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = Std(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = Rms(8)
        self.q = nn.Dense(8, 8)
        self.k = nn.Dense(8, 8)
        self.fc = nn.Dense(8, 4)

    def construct(self, x):
        x = self.norm(self.a(x).flatten(start_dim=2).swapaxes(1, 2))
        scores = ops.matmul(self.q(x), self.k(x).swapaxes(1, 2)) / {root}  # root
        return self.fc(ops.matmul(ops.softmax(scores, -1), x))
"""
_RIGHT = {"std": "1e-3", "rms": "1e-2", "root": "2.0"}


@pytest.mark.parametrize(
    ("wrong", "causes"),
    [
        ({}, {}),
        ({"std": "1e-10"}, {"std": (Cause.EPS, 1e-3, 1e-10)}),
        (
            {"rms": "1e-5", "root": "2.8"},
            {"rms": (Cause.EPS, 1e-2, 1e-5), "root": (Cause.SCALE, 2.0, 2.8)},
        ),
    ],
)
def test_a_number_is_named_with_both_values(
    tmp_path: Path, wrong: dict[str, str], causes: dict[str, tuple[Cause, float, float]]
) -> None:
    source = _PORT.format(**{**_RIGHT, **wrong})
    (tmp_path / "bench.py").write_text(_BENCH)
    (tmp_path / "port.py").write_text(source)
    answer = trueline.pair("bench:Net", "port:Net", "2x3x8x8", folder=tmp_path, steps=0)

    lines = {
        name: number for number, line in enumerate(source.splitlines(), 1) for name in wrong if f"# {name}" in line
    }
    found = {
        blame.line.line: (blame.cause, blame.bench, blame.port)
        for blame in answer.blames
        if blame.stage is Stage.FORWARD and blame.confirmed and blame.line is not None
    }
    assert found == {lines[name]: cause for name, cause in causes.items()}
