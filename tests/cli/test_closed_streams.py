"""Whatever a script has done to its streams, a verb that executes it ends with the exit code of its own answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest
import warm
from cli.calling import environment
from replay.replaying import HAS_STARTED

_TRAIN: Final = """
import os
import sys

import torch

exec(os.environ["CLOSING"])
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step, x in enumerate(torch.utils.data.DataLoader(torch.ones(16, 4), 4)):
    loss = net(x).pow(2).mean()
    loss = loss * float("nan") if step >= 2 else loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_CLOSING: Final = {
    "stderr closed": "sys.stderr.close()",
    "both closed": "sys.stdout.close(); sys.stderr.close()",
    "stderr's buffer taken": "buffer = sys.stderr.detach()",
    "stderr's descriptor closed": "os.close(2)",
    "both descriptors closed with text in the buffer": "print('pending', end=''); os.closerange(1, 3)",
    "none": "sys.stdout = sys.stderr = None",
    "no streams": "sys.stdout = sys.stderr = object()",
    "full": "sys.stdout = open('/dev/full', 'w'); sys.stdout.write('pending')",
}
_SPOKEN: Final = ("stderr closed", "stderr's buffer taken", "none", "no streams", "full")


def _called(folder: Path, closing: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(_TRAIN)
    changed = environment(CLOSING=_CLOSING[closing], **HAS_STARTED, **{warm.ANY_HASH: "1"})
    return warm.python("torch", folder, "-m", "trueline", *arguments, env=changed)


@pytest.mark.parametrize("closing", _CLOSING)
def test_watch_ends_as_it_has_found(tmp_path: Path, closing: str) -> None:
    ended = _called(tmp_path, closing, "watch", "--json", "answer.json", "train.py")
    assert json.loads((tmp_path / "answer.json").read_text("utf-8"))["exit"] == 1
    assert ended.returncode == 1, ended.stderr
    assert closing not in _SPOKEN or "mul outputs NaN" in ended.stderr


@pytest.mark.parametrize("closing", ["stderr closed", "both descriptors closed with text in the buffer", "none"])
def test_so_do_the_checklist_and_a_replay(tmp_path: Path, closing: str) -> None:
    ended = _called(tmp_path, closing, "run", "--check", "--keep-state", "4", "-o", "run", "train.py")
    assert ended.returncode == 1, ended.stderr
    line = ("replay", "run", "--trust", "--step", "2", "--watch", "--json", "answer.json")
    ended = _called(tmp_path, closing, *line)
    assert json.loads((tmp_path / "answer.json").read_text("utf-8"))["exit"] == 1
    assert ended.returncode == 1, ended.stderr


@pytest.mark.parametrize("closing", ["both closed", "both descriptors closed with text in the buffer", "no streams"])
def test_so_do_runs_in_processes_of_their_own(tmp_path: Path, closing: str) -> None:
    line = ("repro", "--steps", "2", "--runs", "2", "--json", "answer.json", "train.py")
    ended = _called(tmp_path, closing, *line)
    assert json.loads((tmp_path / "answer.json").read_text("utf-8"))["exit"] == ended.returncode, ended.stderr
