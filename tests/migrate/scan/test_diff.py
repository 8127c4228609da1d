"""The calls of two scripts: arguments and defaults that disagree are named with both lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.apitable.literals import same, value_of
from trueline.migrate.scan.diff import Diff, diff
from trueline.script.source import read_source
from trueline.script.uses import uses_of

TORCH = """
import torch, torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision import transforms as T
"""
MINDSPORE = """
import mindspore as ms
from mindspore import nn, ops
import mindspore.dataset as ds
import mindspore.dataset.vision as V
"""


def compared(folder: Path, bench: str, port: str) -> Diff:
    """Two scripts, the benchmark in torch and the port in MindSpore."""
    sides = []
    for name, text in (("bench.py", TORCH + bench), ("port.py", MINDSPORE + port)):
        (folder / name).write_text(text)
        sides.append(uses_of(read_source(folder / name, name)))
    return diff(*sides)


CASES = [
    ("nn.Conv2d(3, 8, 3, padding=1)", "nn.Conv2d(3, 8, 3, pad_mode='pad', padding=1, has_bias=True)", []),
    ("nn.Conv2d(3, 8, 3, padding=1)", "nn.Conv2d(3, 8, 3, has_bias=True)", [("padding", True, False)]),
    ("nn.Conv2d(3, 8, 3)", "nn.Conv2d(3, 8, 3, pad_mode='valid')", [("bias", False, False)]),
    ("nn.BatchNorm2d(8)", "nn.BatchNorm2d(8)", []),
    ("nn.BatchNorm2d(8, momentum=0.1)", "nn.BatchNorm2d(8, momentum=0.1)", [("momentum", True, True)]),
    ("nn.Linear(8, 10, bias=False)", "nn.Dense(8, 10)", [("bias", True, False)]),
    ("nn.Dropout(0.1)", "nn.Dropout(p=0.2)", [("p", True, True)]),
    ("nn.GELU()", "nn.GELU(approximate=False)", []),
    ("F.softmax(x, dim=1)", "ops.softmax(x, axis=2)", [("dim", True, True)]),
    ("F.softmax(x, dim=1)", "ops.softmax(x, axis=-1)", []),
    ("torch.optim.Adam(p, lr=1e-3)", "nn.Adam(p, learning_rate=1e-2)", [("lr", True, True)]),
    ("T.Resize(256)", "V.Resize(224)", [("#0", True, True)]),
    ("T.Normalize([0.5, 0.4], [0.1, 0.2])", "V.Normalize([0.5 * 255, 0.4 * 255], [25.5, 51.0])", []),
    ("DataLoader(d, 32)", "ds.GeneratorDataset(d, ['x']).batch(32)", [("shuffle", False, False)]),
    ("DataLoader(d, 32, shuffle=True)", "ds.GeneratorDataset(d, ['x']).batch(16)", [("batch_size", True, True)]),
    ("nn.Linear(n, 10)", "nn.Dense(m, 10)", []),
]


@pytest.mark.parametrize(("bench", "port", "expected"), CASES)
def test_arguments_that_disagree(tmp_path: Path, bench: str, port: str, expected: list[tuple[str, bool, bool]]) -> None:
    found = compared(tmp_path, bench, port)
    assert [
        (one.argument, one.bench_given, one.port_given) for aligned in found.aligned for one in aligned.disagreements
    ] == expected


def test_calls_are_aligned_in_order_and_leftovers_named(tmp_path: Path) -> None:
    found = compared(
        tmp_path, "nn.ReLU()\nnn.Linear(1, 2)\nnn.Linear(2, 3)", "nn.Dense(1, 2)\nnn.Dense(2, 3)\nnn.Tanh()"
    )
    assert [(one.bench.line, one.port.line) for one in found.aligned] == [(7, 6), (8, 7)]
    assert [use.name for use in found.only_bench] == ["torch.nn.ReLU"]
    assert [use.name for use in found.only_port] == ["mindspore.nn.Tanh"]


def test_numbers_are_worked_out_without_running_anything() -> None:
    assert value_of("-(0.5 * 255)") == -127.5
    assert same(value_of("(3, 3)"), 3) and not same(value_of("[1, 2]"), value_of("[1, 3]"))
    assert same(value_of("open('x')"), 3)
