"""A loss that the script looks at and never back-propagates, and what is not finite at the end, are no all-clear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from launching import python, script, trueline

HEAD = """
import math, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
inputs, targets = torch.randn(64, 4), torch.randn(64, 2)

def update(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOOP = """
for step in range(8):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    if {when}:
        loss = loss * math.nan
    {ask}
    update(loss)
"""
TARGETS = """
targets[24:] = math.nan
criterion = nn.MSELoss()
for sample, target in DataLoader(TensorDataset(inputs, targets), 8):
    loss = criterion(net(sample), target)
    if torch.isnan(loss):
        {then}
    update(loss)
"""
ASKING = [
    "if not torch.isfinite(loss): continue",
    "if loss.isnan(): continue",
    "if math.isnan(loss.item()): continue",
    "if not math.isfinite(float(loss)): continue",
    "if torch.isnan(loss).any(): break",
]


def watched(folder: Path, text: str) -> tuple[int, dict[str, Any]]:
    done = trueline("watch", "--json", "answer.json", script(folder, HEAD + text), cwd=folder, forked="torch")
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text("utf-8"))
    assert done.returncode == answer["exit"], done.stderr
    return done.returncode, answer


@pytest.mark.parametrize("ask", ASKING)
def test_losses_that_are_skipped_to_the_end_are_found_at_their_operator(tmp_path: Path, ask: str) -> None:
    code, answer = watched(tmp_path, LOOP.format(when="step >= 5", ask=ask))
    assert (code, answer["first"]["op"], answer["first"]["phase"]) == (1, "mul", "forward")
    assert answer["first"]["line"] == HEAD.count("\n") + 5


@pytest.mark.parametrize("then", ["continue", "break"])
def test_a_batch_whose_loss_is_never_pulled_back_is_named(tmp_path: Path, then: str) -> None:
    code, answer = watched(tmp_path, TARGETS.format(then=then))
    assert (code, answer["first"]["phase"], answer["first"]["cause"]) == (1, "data", "bad_sample")


@pytest.mark.parametrize("ask", ASKING[:4])
def test_a_loss_that_is_skipped_once_is_counted_and_the_rest_is_well(tmp_path: Path, ask: str) -> None:
    code, answer = watched(tmp_path, LOOP.format(when="step == 5", ask=ask))
    assert (code, answer["thrown_away"], answer["steps"]) == (0, 1, 7)
    assert "1 of 8" in answer["conclusion"]


def test_statistics_that_a_skipped_batch_has_spoiled_are_named(tmp_path: Path) -> None:
    text = """
for step in range(8):
    batch = torch.randn(8, 4)
    if step == 3:
        batch[0, 0] = math.nan
    loss = net(batch).pow(2).mean()
    if torch.isfinite(loss):
        update(loss)
"""
    code, answer = watched(tmp_path, text)
    (finding,) = answer["findings"]
    assert (code, finding["conclusion"]) == (1, "found")
    assert "1.running_mean" in finding["message"]


def test_a_weight_that_is_infinite_at_the_end_is_named(tmp_path: Path) -> None:
    code, answer = watched(tmp_path, LOOP.format(when="False", ask="pass") + "net[0].weight.data.fill_(math.inf)\n")
    assert (code, "0.weight" in answer["conclusion"]) == (1, True)


HEALTHY = {
    "asked in every step": LOOP.format(when="False", ask="assert torch.isfinite(loss) and not math.isnan(loss.item())"),
    "a mask among the outputs": """
for step in range(8):
    scores = net(torch.randn(8, 4)).masked_fill(torch.eye(8, 2).bool(), -math.inf)
    assert not torch.isnan(scores).any() and torch.isinf(scores).any()
    update(scores.softmax(1).pow(2).mean())
""",
    "rollouts that are never pulled back": """
for step in range(8):
    for _ in range(5):
        action = net(torch.randn(8, 4)).mean().item()
    update(net(torch.randn(8, 4)).pow(2).mean())
""",
    "an infinite buffer from the start": """
net.register_buffer("mask", torch.full((2,), -math.inf))
"""
    + LOOP.format(when="False", ask="pass"),
    "read after it was used": LOOP.format(when="False", ask="pass") + "    print(loss.item())\n",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_training_stays_an_all_clear(tmp_path: Path, name: str) -> None:
    code, answer = watched(tmp_path, HEALTHY[name])
    assert (code, answer["steps"], answer["thrown_away"]) == (0, 8, 0), answer["conclusion"]


COMPILED = """
import torch._dynamo

graphs = []

def backend(graph, _):
    graphs.append(len(list(graph.graph.nodes)))
    return graph.forward

@torch.compile(backend=backend)
def guarded(sample):
    loss = net(sample).pow(2).mean()
    bad = torch.isnan(loss) | loss.isinf() | ~torch.isfinite(loss)
    loss = torch.where(bad, torch.zeros_like(loss), loss)
    return loss * 2 if loss.item() > 1e9 else loss

@torch.jit.script
def scripted(sample: torch.Tensor):
    return torch.isnan(sample).any().item()

for step in range(4):
    loss = guarded(torch.randn(8, 4))
    update(loss)
    print(loss.item())
print(graphs, sorted(torch._dynamo.utils.counters["graph_break"].values()), scripted(torch.ones(3)))
"""


def test_compiled_and_scripted_questions_are_those_of_the_plain_script(tmp_path: Path) -> None:
    name = script(tmp_path, HEAD + COMPILED)
    plain = python(name, cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    assert trueline("watch", name, cwd=tmp_path).stdout == plain.stdout


UNBUILT = """
import mindspore as ms
from mindspore import nn

net = nn.Dense(4, 2)
optimizer = nn.SGD(net.trainable_params(), 0.1)
gradients = ms.value_and_grad(lambda sample: net(sample).no_such_method(), None, optimizer.parameters)

@ms.jit
def step(sample):
    loss, found = gradients(sample)
    optimizer(found)
    return loss

step(ms.ops.ones((8, 4), ms.float32))
"""


def test_a_graph_that_cannot_be_built_is_no_step(tmp_path: Path) -> None:
    name = script(tmp_path, UNBUILT)
    done = trueline("watch", "--json", "answer.json", name, cwd=tmp_path, forked="mindspore")
    assert (done.returncode, json.loads((tmp_path / "answer.json").read_text("utf-8"))["steps"]) == (1, 0), done.stderr
