"""A script that ends its process at once, or turns it into another program, is judged before."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import pytest
from launching import python, script, trueline
from test_started_processes import TRAINING

from trueline.formats.run_folder.reader import open_run

LEFT: Final = TRAINING + "import os\ntrain()\nprint('lost')\n"
SPOILT: Final = "(torch.nn.Linear(2, 1)(torch.ones(1, 2)).sum() - 1e3).sqrt().backward()\n"
REPLACED: Final = f"os.execv({sys.executable!r}, ['python', '-c', 'print(7)'])\n"


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        ("os._exit(0)", 0, "Loss, gradients and weights are finite in all 4 steps."),
        ("os._exit(5)", 5, "finite in the 4 steps before the script ended with exit code 5."),
        (SPOILT + "os._exit(0)", 1, "Step 4, forward: sqrt outputs NaN"),
        (REPLACED, 2, "the script has replaced its process by another program"),
        (REPLACED.replace("print(7)", "raise SystemExit(3)"), 3, "replaced its process by another program"),
        ("os.execlp('true', 'true')", 2, "replaced its process by another program, of which nothing is recorded: true"),
    ],
    ids=["well", "code", "nan", "replaced", "replaced and failed", "along the path"],
)
def test_watching_answers_before_the_process_is_left(tmp_path: Path, ending: str, code: int, said: str) -> None:
    done = trueline("watch", "--json", "answer.json", script(tmp_path, LEFT + ending), cwd=tmp_path, forked="torch")
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert said in answer["conclusion"]
    plain = python("train.py", cwd=tmp_path, forked="torch")
    assert done.stdout == plain.stdout, "what was not flushed is lost, as without TrueLine"


def test_a_script_that_starts_itself_anew_before_its_imports_is_not_called_well(tmp_path: Path) -> None:
    anew = "import os, sys\nif 'AGAIN' not in os.environ:\n    os.environ['AGAIN'] = '1'\n"
    anew += "    os.execv(sys.executable, [sys.executable, *sys.argv])\n"
    done = trueline("watch", script(tmp_path, anew + TRAINING + "train()\n"), cwd=tmp_path)
    assert (done.returncode, "nothing was watched; the script has replaced" in done.stderr) == (2, True), done.stderr


def test_a_program_that_is_not_there_replaces_nothing(tmp_path: Path) -> None:
    tried = LEFT + "try:\n    os.execv('/nowhere/at/all', ['x'])\nexcept OSError:\n    train()\n"
    done = trueline("watch", script(tmp_path, tried), cwd=tmp_path, forked="torch")
    assert (done.returncode, "are finite in all 8 steps." in done.stderr) == (0, True), done.stderr


def test_a_recording_is_whole_when_its_process_is_left(tmp_path: Path) -> None:
    for name, ending, code in (("exit", "os._exit(5)", 5), ("exec", REPLACED, 0)):
        done = trueline("run", "-o", name, script(tmp_path, LEFT + ending), cwd=tmp_path, forked="torch")
        assert (done.returncode, "4 training steps recorded" in done.stderr) == (code, True), done.stderr
        run = open_run(tmp_path / name)
        assert (run.rank(0).finished, run.info.exit_code, bool(run.info.ended)) == (4, code, True)
        assert [one.id for one in run.unseen()] == (["record.replaced"] if name == "exec" else [])
    checked = trueline("run", "--check", "-o", "third", "train.py", cwd=tmp_path, forked="torch")
    assert (checked.returncode, checked.stdout.endswith("7\n")) == (2, True), checked.stderr


LATE: Final = """
import atexit, os

@atexit.register
def broken():
    raise ValueError("mine")

@atexit.register
def late():
    train(3)
    print("late", flush=True)

train()
"""


def test_what_is_registered_for_the_end_is_watched_and_ends_as_it_does_plainly(tmp_path: Path) -> None:
    name = script(tmp_path, TRAINING + LATE)
    plain = python(name, cwd=tmp_path, forked="torch")
    done = trueline("watch", name, cwd=tmp_path, forked="torch")
    assert (done.returncode, done.stdout, plain.returncode) == (0, plain.stdout, 0)
    assert "are finite in all 7 steps." in done.stderr
    assert done.stderr.count("ValueError: mine") == plain.stderr.count("ValueError: mine") == 1
    name = script(tmp_path, TRAINING + LATE.replace("    print(", f"    {SPOILT}    print("))
    done = trueline("watch", "--json", "answer.json", name, cwd=tmp_path, forked="torch")
    assert done.returncode == 1, done.stderr
    assert json.loads((tmp_path / "answer.json").read_text())["first"]["op"] == "sqrt"
    assert "WatchEnded" not in done.stderr
