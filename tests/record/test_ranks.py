"""Two ranks of each framework write a folder each, of one run."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path

import pytest
from launching import python, script, trueline

from trueline.formats.run_folder.reader import open_run
from trueline.model.events import BatchEvent
from trueline.report.run.state import Ending, state_of

# Gloo's thread may still let go of a tensor where Python is already ending, and torch then aborts the process, recorded
# or not (two plain runs of twelve): it comes to rest before the script ends.
TORCH = """
import time, torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x, y in DataLoader(data, 4, sampler=DistributedSampler(data, shuffle=False)):
    optimizer.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    optimizer.step()
dist.destroy_process_group()
time.sleep(1)
"""

MINDSPORE = """
import numpy as np, mindspore as ms, mindspore.dataset as ds
from mindspore import nn
from mindspore.communication import init, get_rank, get_group_size

ms.set_device("CPU")
init()
ms.set_seed(0)
draw = np.random.RandomState(0)
x, y = draw.randn(32, 4).astype("float32"), draw.randn(32, 1).astype("float32")
shard = {"num_shards": get_group_size(), "shard_id": get_rank()}
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False, **shard).batch(4)
net = nn.SequentialCell([nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1)])
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
reduce = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=get_group_size())
gradients_of = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
net.set_train()
for one, other in data.create_tuple_iterator():
    loss, gradients = gradients_of(one, other)
    optimizer(reduce(gradients))
"""


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def two_good_ranks(folder: Path, framework: str) -> None:
    run = open_run(folder)
    assert list(run.ranks) == [0, 1]
    assert run.info.world == 2
    assert run.info.framework == framework
    seen: set[int] = set()
    for number in (0, 1):
        rank = run.rank(number)
        assert rank.finished == 4
        assert [one.name for one in rank.params] == ["0.weight", "0.bias", "2.weight", "2.bias"]
        for event in rank.events(BatchEvent):
            seen.update(event.batch().fields[0].fingerprints)
    assert len(seen) == 32, "together the ranks saw every sample once"
    weights = [[one.initial.fingerprint for one in run.rank(number).params if one.initial] for number in (0, 1)]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("inside", [False, True], ids=["trueline run torchrun", "torchrun -m trueline run"])
def test_two_torch_ranks(tmp_path: Path, inside: bool) -> None:
    name = script(tmp_path, TORCH)
    ranks = ["--nproc_per_node=2", f"--master_port={free_port()}"]
    if inside:
        done = python("-m", "torch.distributed.run", *ranks, "-m", "trueline", "run", "-o", "run", name, cwd=tmp_path)
    else:
        torchrun = shutil.which("torchrun", path=str(Path(sys.executable).parent))
        assert torchrun is not None
        done = trueline("run", "-o", "run", torchrun, *ranks, name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    two_good_ranks(tmp_path / "run", "torch")


KILLED = """
import os, pathlib, signal, time, torch
rank, first = int(os.environ["RANK"]), pathlib.Path("first")
if rank == 0:
    first.with_suffix(".part").write_text(str(os.getpid()))
    first.with_suffix(".part").rename(first)
weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
for step in range(4):
    if rank == 1 and step == 2:
        # The launcher ends the others where one fails: the first has to be done by then, and waited for.
        while not first.exists() or pathlib.Path("/proc", first.read_text()).exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.zero_grad()
    ((weight - 1) ** 2).sum().backward()
    optimizer.step()
"""


def test_a_rank_that_is_killed_is_told_where_runs_are_shown(tmp_path: Path) -> None:
    name, ranks = script(tmp_path, KILLED), ("--nproc_per_node=2", f"--master_port={free_port()}")
    line = ("-m", "torch.distributed.run", *ranks, "-m", "trueline", "run", "-o", "runs/run", name)
    done = python(*line, cwd=tmp_path, forked="torch")
    assert done.returncode != 0
    run = open_run(tmp_path / "runs/run")
    # The step that was going on is lost, and no other.
    assert [run.rank(one).finished for one in (0, 1)] == [4, 1]
    state = state_of(run)
    assert (state.ending, state.died) == (Ending.DIED, (1,))
    for verb in (("runs",), ("show", "runs/run")):
        shown = trueline(*verb, cwd=tmp_path, forked="torch")
        assert "rank 1 died" in shown.stdout, (verb, shown.stdout, shown.stderr)


# The other way round first: of each framework's two ways the tests take the first, make eval both.
@pytest.mark.parametrize("inside", [True, False], ids=["msrun python -m trueline run", "trueline run msrun"])
def test_two_mindspore_ranks(tmp_path: Path, inside: bool) -> None:
    name = script(tmp_path, MINDSPORE)
    bin_folder = str(Path(sys.executable).parent)
    msrun = shutil.which("msrun", path=bin_folder)
    assert msrun is not None
    ranks = ["--worker_num=2", "--local_worker_num=2", f"--master_port={free_port()}", "--join=True", "--log_dir=logs"]
    path = {"PATH": bin_folder + ":/usr/bin:/bin"}
    if inside:
        done = python(msrun, *ranks, "python", "-m", "trueline", "run", "-o", "run", name, cwd=tmp_path, env=path)
    else:
        done = trueline("run", "-o", "run", msrun, *ranks, name, cwd=tmp_path, env=path)
    logs = "\n".join(one.read_text()[-1500:] for one in sorted((tmp_path / "logs").glob("worker_*.log")))
    assert done.returncode == 0, done.stderr[-1500:] + logs
    two_good_ranks(tmp_path / "run", "mindspore")
