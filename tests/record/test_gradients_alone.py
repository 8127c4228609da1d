"""Gradients that update nothing: passes without an update between them are one step, for every verb."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from launching import IN_ORDER, script, trueline

TORCH: Final = """
import torch
from torch import nn

def build():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))

x = torch.ones(2, 2)
first, second = build(), build()
first[0].register_forward_hook(lambda module, inputs, output: None)
second[0].register_full_backward_hook(lambda module, gin, gout: None)
SPOIL
for net in (first, second, second, first):
    torch.autograd.grad(net(x).sum(), list(net.parameters()))
for factor in (2.0, 2.0):
    leaf = torch.ones(1, requires_grad=True)
    made = leaf * factor
    made.register_hook(lambda gradient: gradient)
    torch.autograd.grad((made * 3).sum(), [leaf])
torch.func.grad(lambda weight: (weight * x).sum())(torch.ones(2, 2))
"""
MINDSPORE: Final = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(2, 3), nn.Dense(3, 1)

    def construct(self, x):
        return self.b(ops.relu(self.a(x))).sum()

x = ms.Tensor(np.ones((2, 2), np.float32))
first, second = Net(), Net()
first.a.register_forward_hook(lambda cell, inputs, output: None)
second.a.register_backward_hook(lambda cell, gin, gout: None)
SPOIL
for net in (first, second, second, first):
    ms.grad(net, 0)(ms.Tensor(np.random.rand(2, 2).astype(np.float32)))
hook = ops.HookBackward(lambda gradient: None)
for _ in range(2):
    ms.grad(lambda a, b: (hook(a * b) * b).sum(), (0, 1))(ms.Tensor([1.0]), ms.Tensor([2.0]))
ms.value_and_grad(first, None, first.trainable_params())(x)
"""
SPOILING: Final = {
    "torch": "torch.autograd.grad((first(x).sum() - 1e4).sqrt(), list(first.parameters()))",
    "mindspore": "ms.grad(lambda one: ops.sqrt(first(one) - 1e4))(x)",
}


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_run_show_and_watch_count_one_step(tmp_path: Path, framework: str) -> None:
    text = {"torch": TORCH, "mindspore": MINDSPORE}[framework]
    name = script(tmp_path, text.replace("SPOIL", ""))
    trueline("run", "-o", "run", name, cwd=tmp_path, forked=framework, env=IN_ORDER)
    shown = json.loads(trueline("show", "run", "--json", cwd=tmp_path).stdout)
    done = trueline("watch", "--json", "watch.json", name, cwd=tmp_path, forked=framework, env=IN_ORDER)
    watched = json.loads((tmp_path / "watch.json").read_text())
    assert (shown["steps"], watched["steps"]) == (1, 1)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_a_pass_that_is_not_finite_is_found_behind_those_that_are(tmp_path: Path, framework: str) -> None:
    text = {"torch": TORCH, "mindspore": MINDSPORE}[framework]
    name = script(tmp_path, text.replace("SPOIL", SPOILING[framework]))
    done = trueline("watch", "--json", "watch.json", name, cwd=tmp_path, forked=framework, env=IN_ORDER)
    watched = json.loads((tmp_path / "watch.json").read_text())
    assert (done.returncode, watched["findings"][0]["code"]) == (1, "nf.01"), done.stderr


BY_HAND_AFTERWARDS = """
import sys, torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).pow(2).mean().backward()
    optimizer.step()
weight = torch.randn(2, requires_grad=True)
for number in range(4):
    loss = (torch.ones(3, 2) @ weight).pow(2).mean()
    if str(number) in sys.argv:
        loss = loss * float("nan")
    loss.backward()
    with torch.no_grad():
        weight -= 0.1 * weight.grad
    weight.grad = None
"""


@pytest.mark.parametrize("bad", [None, 0, 1, 3])
def test_what_is_trained_by_hand_after_an_optimizer_is_watched_too(tmp_path: Path, bad: int | None) -> None:
    name = script(tmp_path, BY_HAND_AFTERWARDS)
    done = trueline("watch", name, *([] if bad is None else [str(bad)]), cwd=tmp_path, forked="torch")
    assert done.returncode == (0 if bad is None else 1), done.stderr
