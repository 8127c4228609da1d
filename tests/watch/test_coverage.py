"""What was not watched is never said to be fine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from launching import IN_ORDER, python, script, trueline
from torch import nn

import trueline as library
from trueline.formats.run_folder.reader import open_run

HERE = Path(__file__).parent
# What a training of a few layers gives no occasion for.
SELDOM = {"torch": {"_take_gradient", "_gave", "_hand_again"}, "mindspore": {"_take_gradient", "_gave", "_hand_again"}}
# An observer is turned off only where something has gone wrong already; a healthy training reads no NaN.
NEVER_TOLD = {
    "torch": {"instead", "notice", "turn_off", "read_non_finite"},
    "mindspore": {"instead", "notice", "turn_off", "zero_grad", "scheduled", "read_non_finite"},
}


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_an_internal_error_anywhere_is_no_all_clear_and_training_goes_on(framework: str, tmp_path: Path) -> None:
    done = python(str(HERE / "broken_observers.py"), framework, cwd=tmp_path, env=IN_ORDER, forked=framework)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    assert [name for name, one in found.items() if not one["went_on"]] == []
    assert [name for name, one in found.items() if one["concluded"] != (["open"] if one["reached"] else ["none"])] == []
    missed = {name.partition(".")[2] for name, one in found.items() if not one["reached"]}
    assert missed <= SELDOM[framework] | NEVER_TOLD[framework]


def _evaluating(spoil_at: int, done: list[float]) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,)))
    for step, (x, y) in enumerate(torch.utils.data.DataLoader(data, 4)):
        net.train()
        loss = nn.functional.cross_entropy(net(x), y)
        loss = (loss - 100).sqrt() if step >= spoil_at else loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        net.eval()
        with torch.inference_mode():
            for one, _ in torch.utils.data.DataLoader(data, 16):
                # What is made in here cannot be written outside.
                net.register_buffer("seen", one.mean(0), persistent=False)
                done.append(net(one).sum().item())


def test_an_evaluation_in_inference_mode_is_no_end_of_watching_or_recording(tmp_path: Path) -> None:
    plain: list[float] = []
    _evaluating(9, plain)
    done: list[float] = []
    with library.watch() as watched:
        _evaluating(9, done)
    assert done == plain
    assert [one.conclusion for one in watched.findings] == ["none"]
    with library.record(tmp_path / "run", tensors=True, grads=True) as recording:
        _evaluating(9, [])
    assert (recording.off, recording.steps, open_run(tmp_path / "run").rank(0).finished) == (None, 8, 8)
    with library.watch() as watched:
        _evaluating(5, [])
    assert watched.hit is not None
    assert (watched.hit.step, watched.hit.op, watched.hit.way) == (5, "sqrt", "in_place")


class _Expanding(nn.Module):
    """Gives, and takes, far more than is stored, and has such a gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 1)
        self.wide = nn.Identity()
        self.act = nn.Sigmoid()
        self.act.forward = lambda x: x[:4]  # type: ignore[method-assign]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        wide = self.wide(torch.ones(1).expand(1 << 28))
        return y + self.act(wide).sum() * 0


def _expanding() -> list[float]:
    torch.manual_seed(0)
    net, seen = _Expanding(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(torch.ones(2, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


@pytest.mark.parametrize("options", [{"limit": 1e6}, {"on": ("TO",)}, {"on": ("AR",)}], ids=str)
def test_what_is_too_far_expanded_to_be_looked_at_is_said_and_watching_goes_on(options: dict[str, Any]) -> None:
    plain = _expanding()
    with library.watch(**options) as watched:
        assert _expanding() == plain
    assert watched.findings[0].conclusion == "open"
    said = watched.findings[0].message.text()
    assert "in 3 steps, but not all" in said
    assert "was not looked at" in said
    with library.watch() as watched:
        _expanding()
    assert [one.conclusion for one in watched.findings] == ["none"], "what decides about NaN was all seen"


def test_a_gradient_that_cannot_be_read_is_found_by_its_norm() -> None:
    with library.watch() as watched:
        weight = torch.zeros(1 << 25, requires_grad=True)
        optimizer = torch.optim.SGD([weight], 0.0)
        for step in range(3):
            weight.grad = torch.full((), float("nan") if step == 2 else 1.0).expand(1 << 25)
            optimizer.step()
    assert watched.findings[0].conclusion != "none"


def _watched(folder: Path, text: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    answer = folder / "answer.json"
    forked = "torch" if "torch" in text else None
    ended = trueline("watch", "--json", str(answer), script(folder, text), cwd=folder, forked=forked)
    return ended, json.loads(answer.read_text())


LOOP = """
import sys, torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(8):
    optimizer.zero_grad()
    loss = net(torch.ones(3, 2)).pow(2).mean()
    if step >= 5:
        loss = loss + (-1 - loss).log()
    loss.backward()
    {}
    optimizer.step()
"""


def test_a_script_that_stops_because_its_loss_is_nan_is_not_well(tmp_path: Path) -> None:
    for then in ("if step >= 5: sys.exit(3)", "if step >= 5: continue"):
        ended, answer = _watched(tmp_path, LOOP.format(then))
        assert (ended.returncode, answer["exit"]) == (1, 1), then
        assert (answer["first"]["step"], answer["first"]["op"]) == (5, "log"), then


def test_what_was_not_watched_is_said_and_the_exit_code_is_not_zero(tmp_path: Path) -> None:
    cases = {
        "print(1)": (2, 2, "Neither torch nor mindspore was imported: nothing was watched."),
        "import torch\ntorch.nn.Linear(2, 1)(torch.ones(1, 2))": (2, 2, "No training step was seen"),
        "import torch\nraise SystemExit(4)": (4, 2, "No training step was seen: nothing was watched."),
        LOOP.format("if step == 3: raise SystemExit(5)"): (5, 2, "before the script ended with exit code 5."),
        "import torch, torch.multiprocessing as mp\n"
        + LOOP.format("if step == 2: mp.start_processes(print, nprocs=1, start_method='fork'); break"): (
            *(2, 2),
            "but not all training was watched: steps of child processes are not recorded",
        ),
    }
    for text, (code, own, said) in cases.items():
        ended, answer = _watched(tmp_path, text)
        assert (ended.returncode, answer["exit"]) == (code, own), (text, ended.stderr)
        assert said in answer["conclusion"], (answer["conclusion"], said)
        assert said in ended.stderr
        assert [one["conclusion"] for one in answer["findings"]] == ["open"]


BROKEN = (
    "import torch, trueline.record.kept as kept\n"
    + LOOP.format("pass").replace("if step >= 5", "if step == 9")
    + "    if step == 3: kept.Kept.event = lambda *_, **__: 1 / 0\n"
)


def test_an_internal_error_ends_in_three_for_watch_and_run_with_check(tmp_path: Path) -> None:
    ended, answer = _watched(tmp_path, BROKEN)
    assert (ended.returncode, answer["exit"], answer["steps"]) == (3, 3, 4)
    assert answer["conclusion"].startswith("Watching ended after 4 steps; later steps were not watched")
    assert "ZeroDivisionError" in answer["off"]
    name = script(tmp_path, BROKEN)
    checked = trueline("run", "--check", "-o", "run", name, cwd=tmp_path, forked="torch")
    assert checked.returncode == 3, checked.stderr
    asked = trueline("check", "run", cwd=tmp_path)
    assert (asked.returncode, "what came after was not checked" in asked.stdout) == (2, True), asked.stdout
    again = trueline("repro", "--runs", "2", name, cwd=tmp_path, forked="torch")
    assert (again.returncode, "the recording ended after 4 steps" in again.stderr) == (2, True), again.stderr
    tuned = trueline("tune", "lr", "--steps", "20", name, cwd=tmp_path, forked="torch")
    assert (tuned.returncode, "the experiment could not be carried on" in tuned.stderr) == (2, True), tuned.stderr
