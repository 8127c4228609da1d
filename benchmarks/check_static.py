"""Reading a project of 50 files for the checklist, against a plain ``ast.parse`` of the same files; CPU time."""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from pathlib import Path

from measure import interleave

LIMIT = 1.0
MODEL = '''"""Network {n}."""
import torch
from torch import nn

from project.layers_{n} import Block


class Net{n}(nn.Module):
    """A small network."""

    def __init__(self, width: int = 32, classes: int = 10, dropout: float = 0.1) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(4)])
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.stem(x)))
        x = self.blocks(x).mean((2, 3))
        return self.head(self.drop(x))
'''
LAYERS = '''"""Layers {n}."""
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()

    def forward(self, x):
        return x + self.relu(self.norm(self.conv(x)))
'''
DATA = '''"""Data {n}."""
import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, count: int, train: bool) -> None:
        generator = torch.Generator().manual_seed(0 if train else 1)
        self.x = torch.randn(count, 3, 32, 32, generator=generator)
        self.y = torch.randint(0, 10, (count,), generator=generator)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: int):
        return self.x[index], self.y[index]


def loaders(config):
    train = DataLoader(Pictures(config.count, True), config.batch_size, shuffle=True, num_workers=config.workers)
    test = DataLoader(Pictures(config.count // 4, False), config.batch_size)
    return train, test
'''
TRAIN = '''"""Training {n}."""
import argparse

import torch
from torch import nn

from project.data_{n} import loaders
from project.model_{n} import Net{n}
from project.steps_{n} import evaluate, update


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--count", type=int, default=1024)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--clip", type=float, default=1.0)
    return parser.parse_args()


def main() -> None:
    config = parse()
    train, test = loaders(config)
    net = Net{n}()
    optimizer = torch.optim.SGD(net.parameters(), lr=config.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.epochs)
    criterion = nn.CrossEntropyLoss()
    best = 0.0
    for epoch in range(config.epochs):
        net.train()
        total = 0.0
        for x, y in train:
            total += update(net, optimizer, criterion, x, y, config.clip)
        scheduler.step()
        accuracy = evaluate(net, test)
        best = max(best, accuracy)
        print(epoch, total / len(train), accuracy, best)


if __name__ == "__main__":
    main()
'''
STEPS = '''"""Steps {n}."""
import torch
from torch.nn.utils import clip_grad_norm_


def update(net, optimizer, criterion, x, y, clip):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    clip_grad_norm_(net.parameters(), clip)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    right = count = 0
    for x, y in loader:
        right += (net(x).argmax(1) == y).sum().item()
        count += len(y)
    return right / count
'''
KINDS = {"layers": LAYERS, "model": MODEL, "data": DATA, "train": TRAIN, "steps": STEPS}


def write_project(folder: Path, files: int) -> list[Path]:
    """So many files: trainings that each import their model, layers, data and steps."""
    package = folder / "project"
    package.mkdir()
    paths = []
    for place in range(files):
        number, kind = place // len(KINDS), list(KINDS)[place % len(KINDS)]
        path = package / f"{kind}_{number}.py"
        path.write_text(KINDS[kind].replace("{n}", str(number)), "utf-8")
        paths.append(path)
    return paths


def main() -> int:
    """Print the numbers; 1 when the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    from trueline.checks.engine.checklist import fill_in
    from trueline.checks.engine.listing import all_checks
    from trueline.script.script import read_script

    with tempfile.TemporaryDirectory() as folder:
        paths = write_project(Path(folder), options.files)
        lines = sum(path.read_text("utf-8").count("\n") for path in paths)

        def parse() -> None:
            for path in paths:
                ast.parse(path.read_text("utf-8"))

        def check() -> None:
            filled = fill_in(all_checks(), {"script": read_script([Path(folder)])})
            assert not [one for one in filled.findings if one.error is not None]

        found = interleave({"ast.parse": parse, "trueline check": check}, repeat=options.repeat)
    print(f"{options.files} files, {lines} lines")
    for name, sample in found.items():
        print(f"{name:16} {sample.median:7.3f} s  ({sample.low:.3f} – {sample.high:.3f})")
    checked = found["trueline check"].median
    print(f"ratio {checked / found['ast.parse'].median:.1f}, limit {LIMIT} s")
    if checked > LIMIT:
        print(f"MISSED {checked:.3f} s > {LIMIT} s")
    return int(checked > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
