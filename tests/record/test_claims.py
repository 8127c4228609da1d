"""Two runs that begin at the same time: each has a folder of its own, or the second is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli.calling import environment

# Says that it runs, and trains nothing until it is told to go on: no file of the run is there before.
TRAIN = """
import sys
print("begun", flush=True)
sys.stdin.readline()
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.ones(4, 2)).mean().backward()
    optimizer.step()
"""


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "trueline", "run", *options, "train.py"],
        cwd=folder,
        env=environment(OMP_NUM_THREADS="1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_second_of_two_runs_into_one_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    first = start(tmp_path, "-o", "run")
    assert first.stdout is not None and first.stdout.readline() == "begun\n"
    second = start(tmp_path, "-o", "../" + tmp_path.name + "/run")
    out, complaint = second.communicate()
    assert second.returncode == 2
    assert out == "" and complaint.count("\n") == 1
    assert "another run is being recorded into" in complaint
    _, complaint = first.communicate("\n")
    assert first.returncode == 0, complaint
    done = subprocess.run(
        [sys.executable, "-m", "trueline", "show", "run", "--json"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Once it is there it is a run, and no longer one in the making.
    again = start(tmp_path, "-o", "run")
    assert "is taken" in again.communicate()[1] and again.returncode == 2


def test_runs_of_the_same_second_have_names_of_their_own(tmp_path: Path) -> None:
    program = (
        "import datetime, sys, trueline.record.session as session\n"
        "class Then(datetime.datetime):\n"
        "    @classmethod\n"
        "    def now(cls): return cls(2026, 1, 2, 3, 4, 5)\n"
        "session.datetime = type('module', (), {'datetime': Then})\n"
        "print(session.default_folder('train'), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    names = {one.stdout.readline() for one in running if one.stdout is not None}
    for one in running:
        one.communicate("\n")
    assert len(names) == 3
