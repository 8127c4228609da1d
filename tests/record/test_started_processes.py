"""A process that a script starts is not watched: where it may have trained, that is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from launching import python, script, trueline

from trueline.record.started_processes import Process, adopts_orphans

HERE: Final = Path(__file__).parent
TRAINING: Final = """
import subprocess, sys, torch

def train(steps=4):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        net(torch.ones(3, 2)).pow(2).mean().backward()
        optimizer.step()
"""
IN_SESSION: Final = "import os, sys; os.setsid(); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
LOADING: Final = """
from torch.utils.data import DataLoader, Dataset

class Ones(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.ones(2)

if __name__ == "__main__":
    train()
    for context in ("fork", "spawn"):
        assert len(list(DataLoader(Ones(), 2, num_workers=1, multiprocessing_context=context))) == 2
    subprocess.run(["git", "--version"], stdout=subprocess.DEVNULL)
"""


def test_whatever_way_a_process_is_started_that_loads_a_framework_it_is_named(tmp_path: Path) -> None:
    # In a session of its own, so that whatever adopts orphans here stands outside of it.
    done = python("-c", IN_SESSION, str(HERE / "starting_ways.py"), "ways", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[str] | None] = json.loads(done.stdout)
    assert [name for name, said in found.items() if said is None or said[0] != "torch"] == []
    assert "import sys, torch, time" in (found["subprocess"] or ["", ""])[1]
    assert "--multiprocessing-fork" in (found["pool"] or ["", ""])[1]


ME: Final = Process(pid=50, parent=40, group=50, session=30, began=9, layout=())


@pytest.mark.parametrize(
    ("parent", "adopts"),
    [
        pytest.param(None, True, id="already gone"),
        pytest.param(Process(1, 0, 1, 1, 0, ()), True, id="init"),
        pytest.param(Process(1, 0, 30, 30, 0, ()), True, id="a container's init, in the script's session"),
        pytest.param(Process(7, 1, 7, 7, 0, ()), True, id="a subreaper outside of the session"),
        pytest.param(Process(30, 1, 30, 30, 0, ()), False, id="a shell that starts two trainings"),
        pytest.param(Process(40, 1, 7, 7, 0, ()), False, id="what started the script"),
    ],
)
def test_an_orphan_is_known_by_who_adopted_it(parent: Process | None, adopts: bool) -> None:
    assert adopts_orphans(parent, ME) is adopts


def test_a_process_that_loads_none_is_nothing_to_speak_of(tmp_path: Path) -> None:
    done = python(str(HERE / "starting_ways.py"), "well", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert [name for name, said in found.items() if said is not None] == []


def test_workers_of_a_loader_and_git_are_an_all_clear(tmp_path: Path) -> None:
    done = trueline("watch", script(tmp_path, TRAINING + LOADING), cwd=tmp_path, forked="torch")
    assert (done.returncode, "are finite in all 4 steps." in done.stderr) == (0, True), done.stderr


def test_no_verb_calls_a_training_well_that_starts_another(tmp_path: Path) -> None:
    script(tmp_path, TRAINING + "train()\n", "child.py")
    name = script(tmp_path, TRAINING + "train()\nsubprocess.run([sys.executable, 'child.py'], check=True)\n")
    said = "a process that the script has started had torch loaded and may have trained"
    done = trueline("watch", "--json", "answer.json", name, cwd=tmp_path, forked="torch")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (done.returncode, answer["exit"], answer["steps"]) == (2, 2, 4), done.stderr
    assert [one["conclusion"] for one in answer["findings"]] == ["open"]
    assert said in answer["conclusion"]
    assert answer["unseen"][0].endswith(" child.py")
    checked = trueline("run", "--check", "-o", "run", name, cwd=tmp_path, forked="torch")
    assert (checked.returncode, said in checked.stderr) == (2, True), checked.stderr
    asked = trueline("check", "run", cwd=tmp_path)
    assert (asked.returncode, "not all training of run was recorded" in asked.stdout) == (2, True), asked.stdout
    shown = json.loads(trueline("show", "run", "--json", cwd=tmp_path).stdout)
    assert any(one["message"].startswith(said) for one in shown["notices"])
    again = trueline("repro", "--runs", "2", name, cwd=tmp_path, forked="torch")
    assert (again.returncode, said in again.stderr) == (2, True), again.stderr
    tuned = trueline("tune", "lr", "--steps", "20", name, cwd=tmp_path, forked="torch")
    assert (tuned.returncode, said in tuned.stderr) == (2, True), tuned.stderr
