"""tr.19: no operator pairs the rows of a batch on the way to one number, unless pairs were asked for."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from checks.laws.trainings import said

from trueline.model.finding import Conclusion

TORCH = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(12, 4)
y, y_column = x.sum(1), x.sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    out = net(x)
{loss}
    loss.backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    out = net(x)
{metric}
"""
MINDSPORE = """
import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(0)
x = ms.Tensor(np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32))
y, y_column = x.sum(1), x.sum(1, keepdims=True)
net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
optimizer = nn.SGD(net.trainable_params(), 0.01)

def forward(x):
    out = net(x)
{loss}
    return loss

step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train(True)
for _ in range(3):
    loss, gradients = step(x)
    optimizer(gradients)
"""


def torch_training(loss: str, metric: str = "print(out.mean())") -> str:
    return TORCH.format(loss=indent(loss, "    "), metric=indent(metric, "    "))


@pytest.mark.parametrize(
    ("loss", "line"),
    [
        ("loss = (out - y).pow(2).mean()", "loss = (out - y).pow(2).mean()"),
        ("rest = y - out.detach()\nloss = (out.squeeze(1) * rest).sum()", "rest = y - out.detach()"),
        (
            "out = out.squeeze(-1)\nerror = (out - y_column).abs()\nloss = torch.log(1 + error).mean()",
            "error = (out - y_column).abs()",
        ),
    ],
)
def test_rows_against_a_column_are_named_at_their_operator(tmp_path: Path, loss: str, line: str) -> None:
    assert said(tmp_path, "tr.19", torch_training(loss)) == [("tr_19.pairs", Conclusion.FOUND, 0, line)]


def test_a_metric_of_an_evaluation_is_named(tmp_path: Path) -> None:
    metric = "right = (out > 0) == (y > 0)\nprint(right.float().mean().item())"
    found = said(tmp_path, "tr.19", torch_training("loss = (out.squeeze(1) - y).pow(2).mean()", metric))
    assert found == [("tr_19.pairs", Conclusion.FOUND, 0, "right = (out > 0) == (y > 0)")]


@pytest.mark.parametrize(
    ("loss", "conclusion"),
    [
        # The author has written the column out, and may have meant all pairs.
        ("loss = (out.squeeze(1) - y.unsqueeze(1)).pow(2).mean()", Conclusion.SUSPECT),
        ("loss = (out - y).pow(2).sum(1).mean()", Conclusion.SUSPECT),
    ],
)
def test_what_may_be_meant_is_suspected(tmp_path: Path, loss: str, conclusion: Conclusion) -> None:
    assert [found[:3] for found in said(tmp_path, "tr.19", torch_training(loss))] == [
        ("tr_19.may_be_pairs", conclusion, 0)
    ]


@pytest.mark.parametrize(
    "loss",
    [
        "loss = (out.squeeze(1) - y).pow(2).mean()",
        "loss = (out - out.squeeze(1)).abs().mean()",
        "score = out.squeeze(1)\nloss = torch.relu(1 - (score.unsqueeze(1) - out.t())).mean()",
        "square = out.pow(2)\nloss = (square + square.squeeze(1) - 2 * out @ out.t()).clamp(min=0).mean()",
        "gap = (out - y).abs()\nloss = (gap * (1 - torch.eye(12))).mean()",
        "gap = (out - y).abs()\nloss = gap.min(1).values.mean()",
        "wide = out * torch.linspace(0, 1, 12)\nloss = wide.pow(2).mean()",
    ],
)
def test_rows_that_correspond_and_wanted_pairs_are_left_alone(tmp_path: Path, loss: str) -> None:
    assert said(tmp_path, "tr.19", torch_training(loss)) == []


@pytest.mark.parametrize(
    ("loss", "line"),
    [
        ("loss = ops.square(out - y).mean()", "loss = ops.square(out - y).mean()"),
        (
            "weight = y_column - ops.stop_gradient(out.squeeze(1))\nloss = (out * weight).mean()",
            "weight = y_column - ops.stop_gradient(out.squeeze(1))",
        ),
    ],
)
def test_mindspore_names_them_too(tmp_path: Path, loss: str, line: str) -> None:
    found = said(tmp_path, "tr.19", MINDSPORE.format(loss=indent(loss, "    ")), "mindspore")
    assert found == [("tr_19.pairs", Conclusion.FOUND, 0, line)]


@pytest.mark.parametrize(
    "loss",
    [
        "loss = ops.square(out.squeeze(1) - y).mean()",
        "square = ops.square(out)\nloss = ops.relu(square + square.T - 2 * ops.matmul(out, out.T)).mean()",
    ],
)
def test_mindspore_leaves_what_is_right_alone(tmp_path: Path, loss: str) -> None:
    assert said(tmp_path, "tr.19", MINDSPORE.format(loss=indent(loss, "    ")), "mindspore") == []
