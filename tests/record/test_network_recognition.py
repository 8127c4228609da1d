"""Transforms, augmentations, metrics and criteria are modules too: what leads to a loss is a network, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import torch
import torch.nn.functional as F
from launching import IN_ORDER, script
from launching import trueline as run_trueline
from torch import nn
from torch.utils.data import DataLoader, Dataset

import trueline
from trueline.compare.report.runs import result
from trueline.compare.runs import compare_runs
from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.model.events import BatchEvent, LossEvent


class Shift(nn.Module):
    """As torchvision's Normalize: a module without anything to train."""

    def __init__(self, by: float) -> None:
        super().__init__()
        self.register_buffer("by", torch.tensor(by))

    def forward(self, x: Any) -> Any:
        return x - self.by


class Noise(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + torch.randn(x.shape) * 0.01


class Accuracy(nn.Module):
    """As torchmetrics' metrics: gives a number for a batch, and counts over all."""

    def __init__(self) -> None:
        super().__init__()
        self.right = 0.0

    def update(self, x: Any, y: Any) -> Any:
        self.right += float((x.argmax(1) == y).sum())
        return (x.argmax(1) == y).float().mean()

    def compute(self) -> float:
        return self.right

    def forward(self, x: Any, y: Any) -> Any:
        return self.update(x, y)


class Margin(nn.Module):
    """A criterion of the user's own."""

    def forward(self, x: Any, y: Any) -> Any:
        return F.relu(1.0 - x.gather(1, y[:, None])).mean()


class Samples(Dataset):
    """Transforms in ``__getitem__``, and a network that only prepares samples."""

    def __init__(self, seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.values = torch.randn(24, 4, generator=draw)
        self.transform = nn.Sequential(Shift(0.5), nn.Identity(), Noise())
        self.extractor = nn.Linear(4, 4).requires_grad_(False)

    def __len__(self) -> int:
        return 24

    def __getitem__(self, at: int) -> Any:
        return self.extractor(self.transform(self.values[at])), at % 3


def recorded(folder: Path, seed: int = 0) -> tuple[RankFolder, list[float]]:
    """Two epochs of training and evaluation; the losses of the latter."""
    torch.manual_seed(0)
    samples, augment, metric, criterion = Samples(seed), nn.Sequential(Noise(), Shift(0.1)), Accuracy(), Margin()
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    losses = []
    with trueline.record(folder):
        for _ in range(2):
            network.train()
            for x, y in DataLoader(samples, 8):
                optimizer.zero_grad()
                given = network(augment(x))
                metric(given, y)
                criterion(given, y).backward()
                optimizer.step()
            network.eval()
            with torch.no_grad():
                for x, y in DataLoader(samples, 8):
                    scores = network(augment(x)).log_softmax(1)
                    metric(scores, y)
                    losses.append(float(criterion(scores, y)))
    return open_run(folder).rank(0), losses


def batches(rank: RankFolder, phase: str) -> list[tuple[str | None, Any]]:
    return [(event.source, event.indexes) for event in rank.events(BatchEvent, phase=phase)]


def test_only_the_network_begins_steps_and_claims_batches(tmp_path: Path) -> None:
    rank, losses = recorded(tmp_path / "run")
    expected = [("loader", list(range(start, start + 8))) for start in (0, 8, 16)]
    assert batches(rank, "train") == batches(rank, "eval") == expected * 2
    roots = {one.type for one in rank.modules if "." not in one.path and not one.path.isdigit()}
    assert roots == {"Sequential", "Margin", "Accuracy"}, "what takes the network's output stands behind it"
    assert {one.name for one in rank.params} == {"0.weight", "0.bias", "2.weight", "2.bias"}
    told = [event.value for event in rank.events(LossEvent, phase="eval")]
    assert told == pytest.approx(losses), "a metric is no loss"


@pytest.mark.parametrize("other", [False, True])
def test_the_same_data_is_called_the_same_and_other_data_other(tmp_path: Path, other: bool) -> None:
    recorded(tmp_path / "a")
    recorded(tmp_path / "b", seed=int(other))
    found = result(compare_runs(open_run(tmp_path / "b"), open_run(tmp_path / "a"))).to_json("en")
    assert ("cmp.07" in {one["code"] for one in found["findings"]}) is other


def test_without_a_loader_what_enters_the_network_is_the_batch(tmp_path: Path) -> None:
    torch.manual_seed(0)
    values, augment, network = torch.randn(4, 6, 4), Shift(1.0), nn.Linear(4, 3)
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    with trueline.record(tmp_path / "run"):
        for x in values:
            optimizer.zero_grad()
            network(augment(x)).square().mean().backward()
            optimizer.step()
    rank = open_run(tmp_path / "run").rank(0)
    assert rank.finished == 4
    found = [event.batch() for event in rank.events(BatchEvent)]
    assert [one.fields[0].mean for one in found] == [pytest.approx((x - 1).mean(1).tolist(), abs=1e-6) for x in values]


class Holding(nn.Module):
    """Its layers are in a list, which registers nothing."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = list(layers)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class Bare(nn.Module):
    """Its weight is a tensor like any other."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(4, 3, requires_grad=True)

    def forward(self, x: Any) -> Any:
        return x @ self.weight


def test_a_network_without_parameters_of_its_own_is_one_all_the_same(tmp_path: Path) -> None:
    layer = nn.Linear(4, 4)
    for name, network, weights in (
        ("holding", Holding(nn.Identity(), layer), list(layer.parameters())),
        ("bare", bare := Bare(), [bare.weight]),
    ):
        optimizer = torch.optim.SGD(weights, 0.1)
        with trueline.record(tmp_path / name):
            for x in torch.randn(5, 6, 4):
                optimizer.zero_grad()
                network(x).square().mean().backward()
                optimizer.step()
        rank = open_run(tmp_path / name).rank(0)
        assert rank.finished == 5
        assert len(batches(rank, "train")) == 5
        assert "" in {one.path for one in rank.modules} or type(network).__name__ in {one.type for one in rank.modules}


_CELLS: Final = """
import mindspore as ms, numpy as np
import mindspore.dataset as ds
from mindspore import nn, ops
ms.set_seed(0)

class Shift(nn.Cell):
    def construct(self, x):
        return x - 0.5

class Margin(nn.Cell):
    def construct(self, x, y):
        return ops.relu(1.0 - x.gather_elements(1, y.expand_dims(1))).mean()

network, augment, criterion = nn.Dense(4, 3), nn.SequentialCell(Shift(), nn.Identity()), Margin()
optimizer = nn.SGD(network.trainable_params(), 0.1)
gradients_of = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, optimizer.parameters)
samples = np.random.RandomState(0).randn(24, 4).astype(np.float32), np.arange(24, dtype=np.int32) % 3
for epoch in range(2):
    network.set_train()
    for x, y in ds.NumpySlicesDataset(samples, shuffle=False).batch(8).create_tuple_iterator():
        _, gradients = gradients_of(augment(x), y)
        optimizer(gradients)
    network.set_train(False)
    for x, y in ds.NumpySlicesDataset(samples, shuffle=False).batch(8).create_tuple_iterator():
        criterion(network(augment(x)), y)
"""


def test_cells_alike(tmp_path: Path) -> None:
    done = run_trueline("run", "-o", "run", script(tmp_path, _CELLS), cwd=tmp_path, env=IN_ORDER, forked="mindspore")
    assert done.returncode == 0, done.stderr
    rank = open_run(tmp_path / "run").rank(0)
    assert [len(batches(rank, phase)) for phase in ("train", "eval")] == [6, 6]
    assert {source for phase in ("train", "eval") for source, _ in batches(rank, phase)} == {"loader"}
    assert {one.type for one in rank.modules} == {"Dense", "Margin"}
