"""Given a script and its run, what the run has measured is told at the line of the script that makes it, and once."""

from __future__ import annotations

from pathlib import Path

from checks.fixtures import RunMark
from checks.test_run_fixtures import record

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.formats.run_folder.reader import open_run
from trueline.script.script import read_script

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


def prepared(x, train):
    x = x * 255.0  # dp.01
    if not train:
        x = x + torch.randn(8)  # dp.02
    return x


class Stream(IterableDataset):
    def __init__(self, count, seed, train):
        draw = torch.Generator().manual_seed(seed)
        self.x = torch.randn(count, 8, generator=draw)
        self.y = torch.randint(0, 2, (count,), generator=draw)
        self.train = train

    def __iter__(self):  # dp.03
        for x, y in zip(self.x, self.y):
            yield prepared(x, self.train), y


def evaluate(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)


torch.manual_seed(0)
train, held = DataLoader(Stream(96, 0, True), batch_size=16), DataLoader(Stream(48, 1, False), batch_size=16)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(3):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        loss_fn(net(x), y).backward()
        optimizer.step()
    print(epoch, evaluate(net, held))
"""


def test_what_a_run_shows_is_told_once_at_the_line_that_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, "utf-8")
    run = open_run(record(path, "torch", RunMark(frozenset()), tmp_path / "recorded"))
    wanted = {
        code: [number for number, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith(f"# {code}")]
        for code in ("dp.01", "dp.02", "dp.03")
    }
    ways = [one for one in all_checks() if one.family == "dp"]

    problems = fill_in(ways, {"script": read_script([path]), "run": run}).problems

    assert {one.code: [other.where.line for other in problems if other.code == one.code] for one in problems} == wanted
    assert all(one.where.step is not None for one in problems)
