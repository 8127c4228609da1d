"""``trueline tune batch`` and ``trueline tune scale`` on real scripts, in processes of their own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cli.calling import call
from docs.json_schema import faults
from launching import IN_ORDER, script, trueline

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)
TORCH = """
import argparse
import torch
from torch.utils.data import DataLoader, TensorDataset
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--rate", type=float, default=0.4)
asked = parser.parse_args()
torch.manual_seed(0)
inputs = torch.randn(256, 1).sign()
data = TensorDataset(inputs, 3 * inputs + torch.randn(256, 1).sign() / 2)
loader = DataLoader(data, asked.batch_size)
network = torch.nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(network.parameters(), asked.rate)
while True:
    # It would go on for ever: the experiment has to end it.
    for x, y in loader:
        optimizer.zero_grad()
        loss = ((network(x) - y) ** 2).mean() / 2
        loss.backward()
        optimizer.step()
    print("epoch val_loss", float(((network(inputs) - 3 * inputs) ** 2).mean()) / 2 + 0.125)
"""
# Gradients of 2^-30 … 2^-20, of which six in eleven vanish without a loss scale; 2^33 suits them.
HALF = """
import mindspore as ms
import numpy as np
from mindspore import amp, nn
ms.set_context(device_target="CPU")
network = nn.Dense(11, 1, has_bias=False).to_float(ms.float16)
optimizer = nn.SGD(network.trainable_params(), 1e-6)
scaler = amp.DynamicLossScaler(4, 2, 50)
batch = ms.Tensor(2.0 ** np.arange(-10, 1, dtype=np.float32)[None])
def forward(x):
    return scaler.scale(network(x).astype(ms.float32).sum() * 2.0**-20)
step = ms.value_and_grad(forward, None, optimizer.parameters)
network.set_train()
for _ in range(50):
    gradients = scaler.unscale(step(batch)[1])
    finite = amp.all_finite(gradients)
    if finite:
        optimizer(gradients)
    scaler.adjust(finite)
"""


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_batch_through_the_loader_that_feeds_training(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    script(folder, TORCH)
    before = files(folder)
    options = ["--sizes", "16,32", "--epochs", "2", "--json", "../batch.json", "-o", "../batch.html"]
    done = trueline("tune", "batch", *options, "train.py", cwd=folder, forked="torch")
    assert done.returncode == 0, done.stderr
    assert files(folder) == before
    answer = json.loads((folder.parent / "batch.json").read_text("utf-8"))
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert (answer["batch_size"], answer["argument"], answer["metric"]["name"]) == (32, None, "val_loss")
    assert answer["loader"] == {"kind": "DataLoader", "size": 32, "file": "train.py", "line": 12}
    assert [(one["batch_size"], one["came"], one["updates"], one["samples"]) for one in answer["rungs"]] == [
        (16, 16, 32, 512),
        (32, 32, 16, 512),
    ]
    assert [one["lr"] for one in answer["rungs"]] == pytest.approx([0.2, 0.4])
    assert answer["findings"][0]["code"] == "hp.03"
    assert "train.py:12" in done.stdout
    assert "samples/s" in (folder.parent / "batch.html").read_text("utf-8")


def test_batch_through_arguments_of_the_script_that_diverges_with_its_own(tmp_path: Path) -> None:
    script(tmp_path, TORCH)
    options = ["--sizes", "16,128", "--samples", "512", "--arg", "batch_size", "--lr-arg", "rate", "--json", "-"]
    done = trueline(
        "tune", "batch", *options, "train.py", "--batch-size=128", "--rate", "3.2", cwd=tmp_path, forked="torch"
    )
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert [(one["batch_size"], one["came"]) for one in answer["rungs"]] == [(16, 16), (128, 128)]
    assert [one["lr"] for one in answer["rungs"]] == pytest.approx([0.4, 3.2])
    assert answer["findings"][0]["conclusion"] == "found"
    assert answer["suggestion"] == {"batch_size": 16, "lr": pytest.approx(0.4)}


def test_scale_of_mindspore_suggested_and_tried(tmp_path: Path) -> None:
    script(tmp_path, HALF)
    options = ["--steps", "6", "--json", "answer.json", "--keep", "kept"]
    done = trueline("tune", "scale", *options, "train.py", cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    assert done.returncode == 1, done.stderr
    answer = json.loads((tmp_path / "answer.json").read_text("utf-8"))
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert (answer["half"], answer["confirmed"], answer["updates"]) == (True, True, 6)
    assert answer["suggestion"] == {"scale": 2.0**33, "factor": 2.0, "window": 2000}
    assert answer["scaler"]["kind"] == "DynamicLossScaler"
    # 2^-30 … 2^-27 are below 2^-26.
    assert (answer["before"]["zeros"], answer["after"]["zeros"]) == (pytest.approx(4 / 11), 0)
    assert answer["findings"][0]["where"]["line"] == 8
    assert "scale_value=2**33" in done.stdout.replace("\n", "")
    assert (tmp_path / "kept" / "own" / "run.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("batch", "--sizes", "32", "x.py"), "expected at least two different whole numbers"),
        (("batch", "--sizes", "a,b", "x.py"), "expected at least two different whole numbers"),
        (("batch", "--samples", "5", "--epochs", "1", "x.py"), "give one of them"),
        (("batch", "--arg", "--", "x.py"), "need the name of an argument"),
        (("batch", "missing.py"), "missing.py"),
        (("scale", "missing.py"), "missing.py"),
        (("scale", "--steps", "1", "x.py"), "--steps"),
        (("scale", "-o", "page.txt", "x.py"), "page.txt"),
        (("scale", "--json", "no/such/place.json", "x.py"), "place.json"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(arguments: tuple[str, ...], says: str) -> None:
    ended = call("tune", *arguments)
    assert ended.exit_code == 2
    assert says in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_script_that_never_trains_is_one_clear_line(tmp_path: Path) -> None:
    script(tmp_path, "import sys\nsys.exit('no data here')")
    done = trueline("tune", "scale", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no data here" in done.stderr
