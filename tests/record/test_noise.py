"""``trueline run --noise``: a network's own noise, measured beside a run that stays as it would have been."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import warm
from launching import IN_ORDER, script, trueline

from trueline.compare.noise_floor import read_noise
from trueline.formats.run_folder.reader import Run, open_run
from trueline.model.key import Key

TORCH = """
import os, sys, time
import torch
from torch import nn
if "--free" not in sys.argv:
    torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(512, 10)
    def forward(self, x):
        return self.fc(self.relu(self.bn(self.conv(x))).flatten(1))

if __name__ == "__main__":
    net = Net()
    class Descent:
        # Half of a process's time is the import of what torch's own optimizers need.
        def zero_grad(self):
            net.zero_grad()
        @torch.no_grad()
        def step(self):
            for one in net.parameters():
                one -= 0.05 * one.grad
    optimizer = Descent() if len(sys.argv) > 1 else torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    draw = torch.Generator().manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(64, 1, 8, 8, generator=draw), torch.arange(64) % 10)
    with open("started.txt", "a") as file:
        file.write("x")
    for x, y in torch.utils.data.DataLoader(data, 8, num_workers=1):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        if "--slowly" in sys.argv and len(open("started.txt").read()) > 1:
            time.sleep(60)
    os.chdir("/")
    os.environ["OMP_NUM_THREADS"] = "nonsense"
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ended.txt"), "a") as file:
        file.write("x")
    print("trained")
"""
MINDSPORE = """
import numpy as np
import mindspore as ms
from mindspore import nn, Tensor
ms.set_device("CPU")
ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 4))
random = np.random.RandomState(0)
for parameter in net.trainable_params():
    parameter.set_data(Tensor(random.randn(*parameter.shape).astype(np.float32)))
net.set_train()
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
gradient = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
for _ in range(4):
    x, y = Tensor(random.randn(8, 6).astype(np.float32)), Tensor(random.randint(0, 4, 8).astype(np.int32))
    loss, gradients = gradient(x, y)
    optimizer(gradients)
print("trained")
"""
QUICK = ("--noise", "--noise-runs", "1", "--noise-steps", "3")


def _is_whole_without_noise(folder: Path, steps: int) -> Run:
    run = open_run(folder)
    assert run.rank().finished == steps
    assert run.info.exit_code == 0
    assert read_noise(run) is None
    assert not (folder / "noise").exists()
    return run


def _left_over(folder: Path) -> list[str]:
    """Processes that were started in a folder and are still there."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if one.joinpath("cwd").readlink() == folder and int(one.name) != os.getpid():
                found.append(one.joinpath("cmdline").read_text())
        except OSError:
            continue
    return found


def test_the_run_is_as_ever_and_has_the_networks_noise_beside_it(tmp_path: Path) -> None:
    name = script(tmp_path, TORCH)
    line = ("run", "-o", "run", "--json", "answer.json", *QUICK, "-m", name.removesuffix(".py"))
    done = trueline(*line, cwd=tmp_path, forked="torch")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "trained\n"
    assert [line for line in done.stderr.splitlines() if "3 steps again" in line], done.stderr
    # Once for the run, then as it is, moved, and moved further: and only the first has come to its end.
    assert (tmp_path / "started.txt").read_text() == "xxxx", done.stderr
    assert (tmp_path / "ended.txt").read_text() == "x"
    assert _left_over(tmp_path) == []
    run = open_run(tmp_path / "run")
    assert run.rank().finished == 8
    assert sorted(one.name for one in (tmp_path / "run" / "noise").iterdir()) == ["noise.json"]
    noise = read_noise(run)
    assert noise is not None
    assert noise.tries == 1
    assert noise.how["repeats"] is True
    assert noise.how["layers"] > noise.how["inputs"] > 0
    assert set(noise.losses) == {0, 1, 2}
    assert {step for _, step in noise.drifts} == {0, 1} == set(run.rank().tensor_steps)
    assert {key.kind.value for key, _ in noise.drifts} >= {"in", "out", "gout", "grad", "param", "buffer"}
    output = noise.drifts[Key.of("conv", "out"), 0]
    assert 0 < output.level < 1e-5
    floor = noise.floor(Key.of("fc", "out"), 0)
    assert floor is not None
    assert 1e-7 < floor < 1e-4
    assert 0 < (noise.loss_band(0) or 0) < 1e-4
    assert json.loads((tmp_path / "answer.json").read_text())["noise"]["measured"] is True


def test_free_randomness_is_named_and_the_run_stays(tmp_path: Path) -> None:
    name = script(tmp_path, TORCH)
    done = trueline("run", "-o", "run", *QUICK, name, "--free", cwd=tmp_path, forked="torch")
    assert done.returncode == 0
    (line,) = [line for line in done.stderr.splitlines() if "not measured" in line]
    assert "weights" in line
    assert "--deterministic" in line
    _is_whole_without_noise(tmp_path / "run", 8)


def test_an_interrupt_while_measuring_leaves_a_whole_run(tmp_path: Path) -> None:
    name = script(tmp_path, TORCH)
    command = [sys.executable, "-m", "trueline", "run", "-o", "run", *QUICK, name, "--slowly"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    streams = {"stderr": subprocess.PIPE, "text": True}
    process = warm.Popen(command, framework="torch", cwd=tmp_path, env=environment, **streams)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (
        not (tmp_path / "started.txt").exists() or len((tmp_path / "started.txt").read_text()) < 2
    ):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    _is_whole_without_noise(tmp_path / "run", 8)
    assert _left_over(tmp_path) == []


def test_what_cannot_be_repeated_is_refused_before_anything_runs(tmp_path: Path) -> None:
    name = script(tmp_path, "print('ran')")
    cases = [
        (("run", "--noise", "torchrun", name), {}),
        (("run", "--noise", name), {"RANK": "1", "WORLD_SIZE": "2"}),
        (("run", "--noise", "--graph-dump", name), {}),
        (("run", "--noise", "--noise-runs", "0", name), {}),
    ]
    for case, environment in cases:
        done = trueline(*case, cwd=tmp_path, env=environment)
        assert (done.returncode, done.stdout) == (2, ""), (case, done)
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_mindspore_too(tmp_path: Path) -> None:
    name = script(tmp_path, MINDSPORE)
    done = trueline("run", "-o", "run", *QUICK, name, cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    noise = read_noise(open_run(tmp_path / "run"))
    assert noise is not None, done.stderr
    assert noise.how["layers"] > 0
    assert 0 < noise.drifts[Key.of("2", "out"), 0].level < 1e-5
    assert 0 < noise.drifts[Key.of("0", "grad", "weight"), 1].level < 1e-4
