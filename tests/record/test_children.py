"""Processes that a script starts train unrecorded, which is said, and never write into their parent's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from launching import IN_ORDER, python, script, trueline

from trueline.formats.run_folder.reader import open_run

_TRAINING: Final = """
import os, sys
import torch
import torch.multiprocessing as mp
from torch import nn
torch.manual_seed(0)

def train(model, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()

model = nn.Linear(4, 1)
model.share_memory()
"""
# As mnist_hogwild: the parent itself only evaluates.
_HOGWILD: Final = """
processes = [mp.get_context("fork").Process(target=train, args=(model,)) for _ in range(2)]
for one in processes:
    one.start()
    one.join()
with torch.no_grad():
    print(model.eval()(torch.ones(1, 4)).item())
"""
# A child by hand, which goes on to the end of the script, and nothing at all in the parent.
_BY_HAND: Final = """
if os.fork() == 0:
    train(model)
    print("child", flush=True)
    sys.exit(3)
else:
    print(os.wait()[1] >> 8)
"""
_BOTH: Final = """
if os.fork() == 0:
    train(model, 5)
else:
    os.wait()
    train(model, 2)
"""
_NO_TRAINING: Final = """
def square(x):
    return x * x
train(model, 2)
with mp.get_context("fork").Pool(2) as pool:
    print(pool.map(square, range(4)))
"""
# Of a child that is started anew nothing is heard; one of a pool's is no training's.
_SPAWNED: Final = """
if __name__ == "__main__":
    train(model, 2)
    child = mp.get_context("spawn").Process(target=len, args=("child",))
    child.start()
    child.join()
"""
# A thread that Python waits for trains after the script's last line.
_LATE: Final = """
import threading, time
def later():
    time.sleep(0.3)
    train(nn.Linear(4, 1), 3)
    print("late", flush=True)
thread = threading.Thread(target=later)
train(model, 2)
thread.start()
"""


@pytest.mark.parametrize(
    ("text", "steps", "said"),
    [(_HOGWILD, 0, True), (_BY_HAND, 0, True), (_BOTH, 2, True), (_SPAWNED, 2, True), (_NO_TRAINING, 2, False)],
    ids=["hogwild", "by hand", "both", "spawned", "pool"],
)
def test_their_steps_are_missed_aloud(tmp_path: Path, text: str, steps: int, said: bool) -> None:
    name = script(tmp_path, _TRAINING + text)
    plain = python(name, cwd=tmp_path, forked="torch")
    done = trueline("run", "-o", "run", name, cwd=tmp_path, forked="torch")
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, plain.stdout), done.stderr
    notice = "steps of child processes are not recorded"
    assert done.stderr.count("training steps recorded in run") == 1, "the child says nothing of its own"
    assert (notice in done.stderr) is said
    run = open_run(tmp_path / "run")
    assert (run.rank(0).finished, run.info.exit_code) == (steps, 0)
    shown = json.loads(trueline("show", "run", "--json", cwd=tmp_path).stdout)
    assert any(one["message"].startswith(notice) for one in shown["notices"]) is said


_MINDSPORE: Final = """
import os, multiprocessing
import numpy as np
import mindspore as ms
from mindspore import nn

def train(steps):
    net = nn.Dense(2, 1)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x: net(x).pow(2).mean(), None, optimizer.parameters)
    for _ in range(steps):
        _, gradients = gradient(ms.Tensor(np.ones((3, 2), np.float32)))
        optimizer(gradients)

if __name__ == "__main__":
    if START == "fork":
        child = os.fork()
        if not child:
            train(2)
            os._exit(0)
        os.waitpid(child, 0)
    else:
        child = multiprocessing.get_context("spawn").Process(target=print)
        child.start()
        child.join()
    train(3)
"""


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_those_of_mindspore_are_too(tmp_path: Path, start: str) -> None:
    name = script(tmp_path, _MINDSPORE.replace("START", repr(start)))
    done = trueline("watch", "--json", "watch.json", name, cwd=tmp_path, forked="mindspore", env=IN_ORDER)
    answer = json.loads((tmp_path / "watch.json").read_text())
    assert (done.returncode, answer["steps"]) == (2, 3), done.stderr
    assert answer["unseen"][0].startswith("steps of child processes are not recorded")


def test_a_thread_that_trains_after_the_last_line_is_waited_for(tmp_path: Path) -> None:
    name = script(tmp_path, _TRAINING + _LATE)
    plain = python(name, cwd=tmp_path, forked="torch")
    done = trueline("watch", "--json", "watch.json", name, cwd=tmp_path, forked="torch")
    assert (done.returncode, done.stdout) == (2, plain.stdout) == (2, "late\n"), done.stderr
    assert done.stderr.count("thread") == 1
    assert json.loads((tmp_path / "watch.json").read_text())["unseen"]
