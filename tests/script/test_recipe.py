"""Two trainings by their recipes: what counts as the same, and what as missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.script.diff.difference import Kind
from trueline.script.diff.recipe import recipe_differences
from trueline.script.diff.subject import Subject
from trueline.script.script import read_script

TRAINING = """
import numpy as np
import torch
from torch import nn

x, y = torch.randn(64, 4), torch.randint(0, 3, (64,))
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
# built
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8, shuffle=True)
for epoch in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        loss = criterion(net(a), b)
        loss.backward()
        # before the update
        optimizer.step()
"""
OPTIMIZER = "torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)"
BUILT, UPDATE = "# built", "# before the update"


def differences(tmp_path: Path, port: str, bench: str) -> list[tuple[Subject, Kind, str]]:
    sides = []
    for name, text in (("port", port), ("bench", bench)):
        path = tmp_path / f"{name}.py"
        path.write_text(text, "utf-8")
        sides.append(read_script([path]))
    return [(subject, one.kind, one.argument) for subject, one in recipe_differences(*sides)]


def changed(before: str, after: str) -> str:
    assert before in TRAINING
    return TRAINING.replace(before, after)


CLIPPED = changed(UPDATE, "nn.utils.clip_grad_norm_(net.parameters(), 1.0)")
PICTURES = changed(
    "x, y = torch.randn", "x, y = torch.from_numpy(np.clip(np.ones((64, 4)), 0, 1)).float() + torch.randn"
)
DROPS_LAST = changed("batch_size=8", "batch_size=8, drop_last=True")
FROZEN = changed(BUILT, "for p in net[0].parameters():\n    p.requires_grad = False")


@pytest.mark.parametrize(
    ("port", "bench"),
    [
        (TRAINING, TRAINING),
        (TRAINING, PICTURES),
        (changed(UPDATE, "for p in net.parameters():\n            p.grad.clip_(-1, 1)"), CLIPPED),
        (TRAINING, changed(BUILT, "for p in net.parameters():\n    p.requires_grad = True")),
        (TRAINING, changed("nn.ReLU()", "nn.ReLU(), nn.Dropout(0.0)")),
        (
            changed(OPTIMIZER, "torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.0)"),
            changed(OPTIMIZER, "torch.optim.Adam(net.parameters(), lr=0.1)"),
        ),
        (
            changed("nn.CrossEntropyLoss()", "nn.HuberLoss()"),
            changed("nn.CrossEntropyLoss()", "nn.SmoothL1Loss()"),
        ),
    ],
    ids=["itself", "pictures clipped", "clipped by hand", "told to train", "no dropout", "no decay", "one family"],
)
def test_the_same_recipe(tmp_path: Path, port: str, bench: str) -> None:
    assert differences(tmp_path, port, bench) == []


@pytest.mark.parametrize(
    ("port", "bench", "expected"),
    [
        (TRAINING, CLIPPED, (Subject.UPDATE, Kind.MISSING, "")),
        (PICTURES, CLIPPED, (Subject.UPDATE, Kind.MISSING, "")),
        (TRAINING, FROZEN, (Subject.FROZEN_PARAMETERS, Kind.MISSING, "")),
        (TRAINING, changed("nn.ReLU()", "nn.ReLU(), nn.Dropout(0.5)"), (Subject.NETWORK, Kind.MISSING, "")),
        (TRAINING, changed("momentum=0.9", "momentum=0.8"), (Subject.UPDATE, Kind.SETTING, "momentum")),
        (
            TRAINING,
            changed("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.1)"),
            (Subject.LOSS, Kind.SETTING, "label_smoothing"),
        ),
        (
            TRAINING,
            changed("batch_size=8", "batch_size=8, drop_last=True"),
            (Subject.SAMPLES, Kind.SETTING, "drop_last"),
        ),
        (
            changed(OPTIMIZER, "torch.optim.AdamW(net.parameters(), lr=0.1)"),
            changed(OPTIMIZER, "torch.optim.Adam(net.parameters(), lr=0.1)"),
            (Subject.UPDATE, Kind.REPLACED, ""),
        ),
    ],
    ids=["not clipped", "pictures clipped", "not frozen", "dropout", "momentum", "smoothing", "drop_last", "optimizer"],
)
def test_another_recipe(tmp_path: Path, port: str, bench: str, expected: tuple[Subject, Kind, str]) -> None:
    assert differences(tmp_path, port, bench) == [expected]
