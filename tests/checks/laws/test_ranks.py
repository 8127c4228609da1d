"""Trainings of two ranks that break a law, and some that only look like it, recorded for real under a launcher."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from launching import script, trueline

from trueline.checks.engine.listing import all_checks
from trueline.checks.engine.running import ask_all
from trueline.formats.run_folder.reader import open_run
from trueline.model.finding import Conclusion, Finding

BEGIN = """
import time, torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
x = torch.randn(160, 12)
data = TensorDataset(x, (x[:, 0] > 0).long())
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)
loss_fn = nn.CrossEntropyLoss()
def network():
    return nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 2))
def reduce(parameters):
    for parameter in parameters:
        dist.all_reduce(parameter.grad)
        parameter.grad /= 2
"""
END = """
dist.barrier()
time.sleep(0.3)
dist.destroy_process_group()
"""
LOOP = """
net = network()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, (inputs, labels) in enumerate(loader):
    loss = loss_fn(net(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    reduce(net.parameters())
    optimizer.step()
"""


@dataclass(frozen=True)
class Case:
    """A program, and what is found in it: (code, text of the line, step, rank), nothing where it is right."""

    text: str
    expected: tuple[str, str, int | None, int | None] | None = None
    also: tuple[str, ...] = field(default=())

    @property
    def whole(self) -> str:
        return BEGIN + self.text + END


CASES: dict[str, Case] = {
    "bare module beside the wrapper": Case(
        LOOP.replace("net = network()", "net = nn.parallel.DistributedDataParallel(network())")
        .replace("net(inputs)", "(net if step < 5 else net.module)(inputs)")
        .replace("    reduce(net.parameters())\n", ""),
        ("tr.08", "optimizer.step()", 5, 1),
    ),
    "one flipped bit": Case(
        LOOP
        + """
    if step == 6 and rank == 1:
        with torch.no_grad():
            net[2].weight.view(torch.int32)[3, 3] ^= 1
""",
        ("tr.08", "optimizer.step()", 6, 1),
    ),
    "a share of a gradient is zeroed": Case(
        LOOP.replace(
            "    optimizer.step()",
            "    if step >= 5 and rank == 1:\n        net[2].weight.grad.view(-1)[:6] = 0\n    optimizer.step()",
        ),
        ("tr.08", "optimizer.step()", 5, 1),
    ),
    "another seed": Case(
        LOOP.replace("net = network()", "torch.manual_seed(rank)\nnet = network()"),
        ("tr.08", "optimizer.step()", None, 1),
        ("wi.01",),
    ),
    "another order on one rank": Case(
        LOOP.replace(
            "    reduce(net.parameters())",
            "    reduce([[*net.parameters()][place] for place in ((0, 1, 2, 3) if rank else (0, 3, 2, 1))])",
        ),
        ("tr.32", "dist.all_reduce(parameter.grad)", 0, 1),
    ),
    "an overlapping shard": Case(
        LOOP.replace("net = network()", "sampler.seed = rank\nnet = network()"), ("dp.05", "for step", 0, 1)
    ),
    "not waited for": Case(
        LOOP.replace(
            "    reduce(net.parameters())",
            "    flat = torch.cat([p.grad.view(-1) for p in net.parameters()])\n"
            "    work = dist.all_reduce(flat, async_op=True)",
        )
        + "    work.wait()\n",
        ("tr.32", "work = dist.all_reduce", 0, 0),
        ("tr.08",),
    ),
    "local steps, averaged now and then": Case(
        LOOP.replace("    reduce(net.parameters())\n", "")
        + """
    if step % 4 == 3:
        for parameter in net.parameters():
            dist.all_reduce(parameter.data)
            parameter.data /= 2
"""
    ),
    "a head of its own on each rank": Case(
        LOOP.replace(
            "net = network()", "net = network()\ntorch.manual_seed(rank + 1)\nnet[4].reset_parameters()"
        ).replace("reduce(net.parameters())", "reduce(net[:4].parameters())")
    ),
    "batch statistics of its own": Case(
        LOOP.replace(
            "net = network()",
            "net = nn.Sequential(nn.Linear(12, 24), nn.BatchNorm1d(24), nn.Linear(24, 2))\n"
            "net = nn.parallel.DistributedDataParallel(net)",
        ).replace("    reduce(net.parameters())\n", "")
    ),
    "handles waited for late, before the update": Case(
        LOOP.replace(
            "    reduce(net.parameters())",
            "    works = [dist.all_reduce(p.grad, async_op=True) for p in net.parameters()]\n"
            "    [work.wait() for work in works]\n"
            "    [p.grad.div_(2) for p in net.parameters()]",
        )
    ),
}
_SAID = ("tr.08", "tr.32", "tr.33", "dp.05", "wi.01")


def found(folder: Path) -> list[Finding]:
    """The problems of ranks in a run."""
    findings = ask_all(all_checks(), {"run": open_run(folder)})
    assert not [finding.error for finding in findings if finding.error]
    return [each for each in findings if each.conclusion is Conclusion.FOUND and each.code in _SAID]


def recorded(folder: Path, text: str) -> None:
    """Record a script as two ranks that find each other by their environment."""
    name = script(folder, text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}

    def record_rank(rank: int) -> None:
        done = trueline(
            "run", "--quiet", "-o", "run", name, cwd=folder, env={**meeting, "RANK": str(rank)}, forked="torch"
        )
        assert done.returncode == 0, done.stderr[-2000:]

    with ThreadPoolExecutor(2) as at_once:
        list(at_once.map(record_rank, range(2)))


def launched(folder: Path, text: str, *options: str, ranks: int = 2) -> tuple[int, str]:
    """Record a script under torchrun: exit code and what was said."""
    name = script(folder, text)
    torchrun = str(Path(sys.executable).parent / "torchrun")
    line = ["run", "--quiet", *options, "-o", "run", torchrun, "--standalone", f"--nproc_per_node={ranks}", name]
    done = trueline(*line, cwd=folder)
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", CASES)
def test_a_law_of_ranks(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    recorded(tmp_path, case.whole)
    problems = found(tmp_path / "run")
    if case.expected is None:
        assert problems == []
        return
    item, text, step, rank = case.expected
    assert {each.code for each in problems} == {item, *case.also}
    [own] = [each for each in problems if each.code == item]
    line = case.whole.splitlines()[own.where.line - 1].strip()
    assert line.startswith(text)
    assert rank == own.where.rank
    if step is not None:
        assert own.where.step == step


def test_a_hang_is_ended_and_every_rank_is_placed(tmp_path: Path) -> None:
    text = LOOP + "    if step == 3 and rank == 0:\n        dist.recv(torch.zeros(1), 1)\n"
    code, said = launched(tmp_path, BEGIN + text + END, "--hang-after", "3")
    assert code != 0
    run = open_run(tmp_path / "run")
    assert [run.rank(number).finished for number in run.ranks] >= [3, 3]
    [problem] = [each for each in found(tmp_path / "run") if each.code == "tr.33"]
    lines = (BEGIN + text + END).splitlines()
    assert "dist.recv" in lines[problem.where.line - 1]
    assert problem.where.rank == 0
    assert "no rank has moved" in said
    assert "rank 1, step 4: waits in all_reduce" in said


def _killed(folder: Path) -> str:
    text = LOOP + "    if step == 3 and rank == 1:\n        import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
    launched(folder, BEGIN + text + END)
    return "from outside"


def _raising(folder: Path) -> str:
    launched(folder, BEGIN + LOOP + "    if step == 3 and rank == 1:\n        raise ValueError('odd')\n" + END)
    return "ValueError: odd"


@pytest.mark.parametrize("fail", [_killed, _raising])
def test_the_rank_that_fails_first_is_named(tmp_path: Path, fail: Callable[[Path], str]) -> None:
    said = fail(tmp_path)
    [problem] = [each for each in found(tmp_path / "run") if each.code == "tr.33"]
    assert problem.where.rank == 1
    assert problem.where.step in (3, 4)
    assert said in problem.message.text()
