"""Batch sizes on problems where it is known by hand which of them lose nothing, and which diverge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as msd
import numpy as np
import pytest
import torch
from mindspore import nn
from torch.utils import data
from tune_in_process import Here

from trueline.model.trouble import BadUsage
from trueline.tune.batch.judging import Verdict, judge
from trueline.tune.batch.ladder import Climbed, Ladder
from trueline.tune.batch.report import report, result

# Inputs of +1 and -1: half the mean squared error has a second derivative of exactly 1 on every batch, so that plain
# gradient descent multiplies the distance from the solution by 1 - lr, and diverges from a rate of 2 on. Targets are
# off by 0.5 to either side, so that the loss ends at 0.125.
ROWS = 512
DRAW = np.random.default_rng(0)
INPUTS = DRAW.choice(np.array([-1, 1], np.float32), (ROWS, 1))
TARGETS = 3 * INPUTS + DRAW.choice(np.array([-0.5, 0.5], np.float32), (ROWS, 1))
FLOOR = 0.125


def torch_training(own: int, rate: float, epochs: int = 1) -> Callable[..., None]:
    """A line by gradient descent, with an evaluation after each epoch; --batch-size as an argument."""

    def train(*args: str) -> None:
        size = int(args[-1]) if args else own
        dataset = data.TensorDataset(torch.from_numpy(INPUTS), torch.from_numpy(TARGETS))
        training, other = (data.DataLoader(dataset, batch_size=one, shuffle=False) for one in (size, own))
        network = torch.nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.SGD(network.parameters(), rate)
        for epoch in range(epochs):
            for inputs, targets in training:
                optimizer.zero_grad()
                ((network(inputs) - targets) ** 2).mean().div(2).backward()
                optimizer.step()
            with torch.no_grad():
                network.eval()
                losses = [float(((network(inputs) - targets) ** 2).mean() / 2) for inputs, targets in other]
                network.train()
            print(f"epoch {epoch} val_loss {np.mean(losses):.5f}")

    return train


def mindspore_training(own: int, rate: float, epochs: int = 1) -> Callable[..., None]:
    """The same."""

    def train(*args: str) -> None:
        size = int(args[-1]) if args else own

        def pipeline(size: int) -> Any:
            return msd.NumpySlicesDataset({"x": INPUTS, "y": TARGETS}, shuffle=False).batch(size)

        training = pipeline(size)
        other = pipeline(own)
        network = nn.Dense(1, 1, has_bias=False)
        optimizer = nn.SGD(network.trainable_params(), rate)
        differentiate = ms.value_and_grad(lambda x, y: ((network(x) - y) ** 2).mean() / 2, None, optimizer.parameters)
        network.set_train()
        for epoch in range(epochs):
            for inputs, targets in training.create_tuple_iterator(num_epochs=1):
                optimizer(differentiate(inputs, targets)[1])
            weight = network.weight.asnumpy().item()
            found = [
                float(((weight * x - y) ** 2).mean() / 2)
                for x, y in other.create_tuple_iterator(num_epochs=1, output_numpy=True)
            ]
            print(f"epoch {epoch} val_loss {np.mean(found):.5f}")

    return train


def climb(folder: Path, train: Callable[..., None], sizes: Sequence[int], **given: Any) -> tuple[Climbed, Here]:
    here = Here(folder, train)
    settings: dict[str, Any] = {"size_argument": None, "rate_argument": None, "samples": None, "epochs": None}
    settings |= {"repeats": 1, "metric": None, "args": [], **given}
    found = Ladder(run_one=here.run, sizes=sizes, progress=lambda *_: None, **settings).climb()
    return found, here


TRAININGS = pytest.mark.parametrize("training", [torch_training, mindspore_training], ids=["torch", "mindspore"])


@TRAININGS
def test_a_batch_whose_rate_diverges_is_too_large_and_the_largest_that_is_not_is_named(
    tmp_path: Path, training: Any
) -> None:
    # A rate of 0.32 for 16 is 0.64 for 32, and 2.56 for 128, which diverges; 128 is the script's own.
    found, _ = climb(tmp_path, training(128, 2.56), [16, 32])
    judged = judge(found)
    assert [one.size for one in found.rungs] == [16, 32, 128]
    assert [one.rate for one in found.rungs] == pytest.approx([0.32, 0.64, 2.56])
    assert [one.came for one in found.rungs] == [16, 32, 128]
    assert [one.updates for one in found.rungs] == [32, 16, 4]
    assert {one.samples for one in found.rungs} == {ROWS}
    assert found.metric is not None
    assert found.metric.name == "val_loss"
    assert found.rungs[0].value == pytest.approx(FLOOR, rel=0.05)
    assert judged.verdict is Verdict.LARGE
    assert judged.best is not None
    assert judged.best.size == 32
    answer = result(found, Path(__file__).parent)
    assert (answer.exit, answer.findings[0].code, answer.findings[0].where.file) == (1, "hp.03", Path(__file__).name)
    assert answer.fields["suggestion"] == {"batch_size": 32, "lr": pytest.approx(0.64)}


@TRAININGS
def test_where_the_rate_stays_small_the_batch_does_not_matter(tmp_path: Path, training: Any) -> None:
    found, _ = climb(tmp_path, training(32, 0.4), [16])
    judged = judge(found)
    assert judged.verdict is Verdict.FINE
    assert judged.best is not None
    assert judged.best.size == 32
    for rung in found.rungs:
        assert rung.value == pytest.approx(FLOOR, rel=0.05)
    assert result(found, tmp_path).exit == 0


def test_the_loader_of_the_evaluation_keeps_its_batches(tmp_path: Path) -> None:
    # Both are built on one line; the second is evaluated with and never trained on.
    found, here = climb(tmp_path, torch_training(64, 0.2), [32])
    loader = found.probed.loader
    assert loader is not None
    assert list(loader.sites.values()) == [[0]]
    told = here.trials["batch-32"].of("batcher")
    assert [one["size"] for one in told] == [64, 64]
    fed = here.trials["batch-32"].of("feeds")
    assert [one["batch_size"] for one in fed] == [32]


def test_the_scripts_own_argument_is_used_where_it_is_named(tmp_path: Path) -> None:
    seen: list[tuple[str, ...]] = []

    def train(*args: str) -> None:
        seen.append(args)
        torch_training(64, 0.2)(*args)

    found, _ = climb(tmp_path, train, [16], size_argument="batch_size", args=["--quick", "--batch-size", "64"])
    assert seen == [(), ("--quick", "--batch-size", "16"), ("--quick", "--batch-size", "64")]
    assert [one.came for one in found.rungs] == [16, 64]
    assert [one.rate for one in found.rungs] == pytest.approx([0.05, 0.2])
    assert found.by_argument == "batch_size"


def test_the_training_loss_counts_where_nothing_else_is_printed_or_it_is_wanted(tmp_path: Path) -> None:
    found, _ = climb(tmp_path, torch_training(64, 0.8, epochs=3), [32], metric="loss", samples=2 * ROWS)
    assert found.metric is not None
    assert (found.metric.name, found.metric.higher) == ("training loss", False)
    # The third epoch is not begun.
    assert [one.samples for one in found.rungs] == [2 * ROWS, 2 * ROWS]
    assert found.rungs[0].value == pytest.approx(FLOOR, rel=0.1)


def test_what_was_done_before_an_interrupt_is_the_answer(tmp_path: Path) -> None:
    here = Here(tmp_path, torch_training(64, 0.4))

    def run(name: str, *given: Any) -> Any:
        return replace(here.run(name, *given), interrupted=name == "batch-128")

    wanted: dict[str, Any] = dict.fromkeys(("size_argument", "rate_argument", "samples", "epochs", "metric"))
    found = Ladder(run, [], [32, 128], repeats=1, progress=lambda *_: None, **wanted).climb()
    assert found.interrupted
    assert [one.size for one in found.rungs] == [32, 64]
    assert judge(found).verdict is Verdict.FINE
    shown = report(found, tmp_path)
    assert shown.blocks[0].message.id == "tune_batch.interrupted"  # type: ignore[union-attr]


def test_repeats_that_are_the_same_are_called_so(tmp_path: Path) -> None:
    def train(*args: str) -> None:
        torch.manual_seed(1)
        torch_training(64, 0.2)(*args)

    found, _ = climb(tmp_path, train, [32], repeats=2)
    assert [len(one.values) for one in found.rungs] == [2, 2]
    assert len(set(found.rungs[0].values)) == 1
    ids = [getattr(block, "message", block).id for block in report(found, tmp_path).blocks if hasattr(block, "message")]
    assert "tune_batch.same_repeats" in ids


def test_batches_sliced_by_the_script_itself_are_one_line_that_asks_for_its_argument(tmp_path: Path) -> None:
    def train(*_args: str) -> None:
        network = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(network.parameters(), 0.1)
        for start in range(0, 96, 16):
            rows = slice(start, start + 16)
            optimizer.zero_grad()
            (network(torch.from_numpy(INPUTS[rows])) ** 2).mean().backward()
            optimizer.step()

    with pytest.raises(BadUsage, match=r"puts its batches together itself.*--arg"):
        climb(tmp_path, train, [16])


def test_an_argument_that_changes_nothing_is_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="batches of 64 came instead"):
        climb(tmp_path, lambda *_: torch_training(64, 0.2)(), [16], size_argument="nonsense")


def test_gradients_summed_up_over_several_batches_are_one_update(tmp_path: Path) -> None:
    def train(*_args: str) -> None:
        loader = data.DataLoader(data.TensorDataset(torch.from_numpy(INPUTS)), batch_size=64)
        network = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(network.parameters(), 0.1)
        for number, (inputs,) in enumerate(loader):
            (network(inputs) ** 2).mean().div(2).backward()
            if number % 2:
                optimizer.step()
                optimizer.zero_grad()

    found, _ = climb(tmp_path, train, [32])
    assert (found.probed.size, found.probed.passes) == (64, 2)
    assert [(one.updates, one.came, one.samples) for one in found.rungs] == [(8, 32, ROWS), (4, 64, ROWS)]


def test_two_networks_trained_on_one_batch_make_one_update_of_it(tmp_path: Path) -> None:
    def train(*_args: str) -> None:
        loader = data.DataLoader(data.TensorDataset(torch.from_numpy(INPUTS)), batch_size=64)
        makes, judges = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
        optimizers = [torch.optim.SGD(one.parameters(), 0.1) for one in (judges, makes)]
        for (inputs,) in loader:
            for optimizer, fake in zip(optimizers, (makes(inputs).detach(), makes(inputs)), strict=True):
                optimizer.zero_grad()
                (judges(fake) ** 2).mean().backward()
                optimizer.step()

    found, _ = climb(tmp_path, train, [32])
    assert (found.probed.size, found.probed.passes) == (64, 1)
    assert [(one.updates, one.came, one.samples) for one in found.rungs] == [(16, 32, ROWS), (8, 64, ROWS)]
