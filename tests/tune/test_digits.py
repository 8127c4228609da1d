"""The loss scale and the batch size of a small network on real digits, in both frameworks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as msd
import numpy as np
import pytest
import torch
from mindspore import amp, nn
from sklearn.datasets import load_digits
from tune_in_process import Here

from trueline.tune.batch.judging import judge
from trueline.tune.batch.ladder import Ladder
from trueline.tune.scale.judging import Verdict
from trueline.tune.scale.judging import judge as judge_scale
from trueline.tune.scale.search import Search
from trueline.tune.scale.shares import row_of

DIGITS = load_digits()
INPUTS = (DIGITS.data / 16).astype(np.float32)
LABELS = DIGITS.target.astype(np.int32)
ROWS = 640


def train_torch() -> None:
    """In half precision, with a scaler that begins as they usually do."""
    torch.manual_seed(0)
    inputs, labels = torch.from_numpy(INPUTS), torch.from_numpy(LABELS).long()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs[:ROWS], labels[:ROWS]), 64, shuffle=True)
    network = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    optimizer = torch.optim.SGD(network.parameters(), 0.2)
    scaler = torch.amp.GradScaler("cpu")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = torch.nn.functional.cross_entropy(network(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.no_grad():
        right = (network(inputs[ROWS:]).argmax(1) == labels[ROWS:]).float().mean()
    print(f"test accuracy {float(right):.4f}")


def train_mindspore() -> None:
    """The same."""
    ms.set_seed(0)
    table = {"x": INPUTS[:ROWS], "y": LABELS[:ROWS]}
    loader = msd.NumpySlicesDataset(table, shuffle=True).batch(64)
    network = nn.SequentialCell(nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 10)).to_float(ms.float16)
    optimizer = nn.SGD(network.trainable_params(), 0.2)
    scaler = amp.DynamicLossScaler(2**16, 2, 2000)
    loss_of = nn.CrossEntropyLoss()

    def forward(x: Any, y: Any) -> Any:
        return scaler.scale(loss_of(network(x).astype(ms.float32), y))

    differentiate = ms.value_and_grad(forward, None, optimizer.parameters)
    network.set_train()
    for x, y in loader.create_tuple_iterator(num_epochs=1):
        gradients = scaler.unscale(differentiate(x, y)[1])
        finite = amp.all_finite(gradients)
        if finite:
            optimizer(gradients)
        scaler.adjust(finite)
    network.set_train(False)
    right = (network(ms.Tensor(INPUTS[ROWS:])).asnumpy().argmax(1) == LABELS[ROWS:]).mean()
    print(f"test accuracy {right:.4f}")


@pytest.mark.parametrize("train", [train_torch, train_mindspore], ids=["torch", "mindspore"])
def test_a_small_network_on_digits(tmp_path: Path, train: Callable[[], None]) -> None:
    here = Here(tmp_path, train)
    scaled = Search(here.run, ROWS // 64, 2, False, lambda *_: None).run()
    suggestion = scaled.suggestion
    assert (judge_scale(scaled).verdict, scaled.confirmed) == (Verdict.FINE, True)
    assert suggestion is not None
    # Gradients of digits are some hundredths: two powers of two more still fit, and three do not.
    assert 12 <= suggestion.power <= 18
    seen = scaled.tried
    assert seen is not None
    assert row_of(suggestion.power + 2, seen.updates, seen.sizes).overflow == 0
    assert row_of(suggestion.power + 3, seen.updates, seen.sizes).overflow > 0

    wanted: dict[str, Any] = dict.fromkeys(("size_argument", "rate_argument", "samples", "epochs", "metric"))
    climbed = Ladder(here.run, [], [32], repeats=1, progress=lambda *_: None, **wanted).climb()
    assert climbed.metric is not None
    assert climbed.metric.name == "test_acc"
    assert [(one.size, one.came, one.updates, one.samples) for one in climbed.rungs] == [
        (32, 32, 20, ROWS),
        (64, 64, 10, ROWS),
    ]
    assert all(one.value is not None and 0.2 < one.value < 1 for one in climbed.rungs)
    assert judge(climbed).asked is climbed.rungs[1]
