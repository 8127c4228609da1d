"""The pytest plugin: a project's own test records a few steps of its training and fails where something is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import warm
from cli.calling import environment

TRAIN = """
import sys
import torch

def train(epochs, zero=True, counted=None, frozen=0):
    x = torch.randn(32, 4)
    data = torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())
    loader = torch.utils.data.DataLoader(data, 8, shuffle=True)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(epochs):
        net[0].requires_grad_(epoch >= frozen)
        for x, y in loader:
            if zero:
                optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
            if counted is not None:
                counted.append(1)

if __name__ == "__main__":
    train(int(sys.argv[1]))
"""
TESTS = """
import sys
import pytest
from train import train

def test_a_healthy_function(check_training):
    counted = []
    filled = check_training(train, 100, counted=counted, steps=6)
    assert 6 <= len(counted) <= 7
    assert any(row.conclusion == "none" for row in filled.rows)

def test_layers_that_are_frozen_at_first(check_training):
    check_training(train, 100, frozen=3, steps=6)

def test_a_faulty_function(check_training):
    check_training(train, 3, zero=False)

def test_a_fault_that_is_ignored(check_training):
    check_training(train, 3, zero=False, ignore=["tr.01", "hp.01"])

def test_a_script_leaves_the_process_as_it_was(check_training):
    before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    check_training("train.py", 2)
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before

def test_a_script_that_fails(check_training):
    check_training("train.py", "nonsense")

def test_nothing_that_trains(check_training):
    check_training(lambda: None)

def test_no_such_item(check_training):
    check_training(train, 1, select=["xx"])

def test_what_the_training_raises_is_its_own(check_training):
    def broken():
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        check_training(broken)
"""
MINDSPORE = """
import numpy as np
import mindspore as ms
from mindspore import nn

def train(epochs, shuffle=True):
    x = np.random.default_rng(1).normal(size=(32, 4)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    data = ms.dataset.NumpySlicesDataset({"x": x, "y": y}, shuffle=shuffle).batch(8)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    loss_of = nn.CrossEntropyLoss()
    step = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)
    for epoch in range(epochs):
        for x, y in data.create_tuple_iterator():
            loss, gradients = step(x, y)
            optimizer(gradients)

def test_a_healthy_function(check_training):
    check_training(train, 4, steps=10)

def test_a_faulty_function(check_training):
    check_training(train, 4, shuffle=False, select=["dp.03"])
"""


def outcomes(folder: Path, framework: str) -> dict[str, str]:
    """How each test of a project ended, with its text where it failed."""
    options = ("-m", "pytest", "-p", "trueline.testing", "-p", "no:cacheprovider", "-q", "-rA", "--color=no")
    done = warm.python(framework, folder, *options, env=environment())
    told: dict[str, str] = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "ERROR"):
            told[rest.partition("::")[2].partition(" ")[0]] = word
    for name in told:
        if told[name] != "PASSED":
            told[name] = done.stdout.partition(f"_ {name} _")[2].partition("\n____")[0]
    assert told, done.stdout + done.stderr
    return told


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "train.py").write_text(TRAIN, "utf-8")
    (folder / "test_train.py").write_text(TESTS, "utf-8")
    return outcomes(folder, "torch")


@pytest.mark.parametrize(
    "name",
    [
        "test_a_healthy_function",
        "test_layers_that_are_frozen_at_first",
        "test_a_fault_that_is_ignored",
        "test_a_script_leaves_the_process_as_it_was",
        "test_what_the_training_raises_is_its_own",
    ],
)
def test_healthy_trainings_pass(told: dict[str, str], name: str) -> None:
    assert told[name] == "PASSED", told[name]


def test_a_fault_fails_the_test_and_says_where_and_what_to_do(told: dict[str, str]) -> None:
    text = told["test_a_faulty_function"]
    assert "1 problem found: tr.01" in text and "train.py:" in text and "zero_grad" in text
    # What is read is the fault, not the plugin.
    assert "testing.py" not in text and "The checklist" not in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test_a_script_that_fails", "exit code 1"),
        ("test_nothing_that_trains", "no training step was recorded"),
        ("test_no_such_item", "xx is no item"),
    ],
)
def test_what_cannot_be_checked_fails_with_one_sentence(told: dict[str, str], name: str, words: str) -> None:
    assert words in told[name]


def test_mindspore(tmp_path: Path) -> None:
    (tmp_path / "test_train.py").write_text(MINDSPORE, "utf-8")
    told = outcomes(tmp_path, "mindspore")
    assert told["test_a_healthy_function"] == "PASSED", told["test_a_healthy_function"]
    assert "dp.03" in told["test_a_faulty_function"]


def test_pytest_starts_without_numpy_or_a_framework(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\ndef test_it():\n"
        "    assert not {'numpy', 'torch', 'mindspore', 'rich', 'click'} & sys.modules.keys()\n",
        "utf-8",
    )
    line = [sys.executable, "-m", "pytest", "-q", "-p", "trueline.testing", "-p", "no:hypothesispytest", "."]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
