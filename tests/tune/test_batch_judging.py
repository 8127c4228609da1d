"""Which metric counts, and how much worse is still equal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from trueline.model.curve import Curve
from trueline.record.command import Ended
from trueline.record.run_mode import Experiment
from trueline.tune.batch.metric import Metric, choose_metric, margin_of
from trueline.tune.child.feeding import Feeding
from trueline.tune.trial import Trial

ACCURACY = Metric("val_acc", higher=True)
LOSS = Metric("val_loss", higher=False)


def trial(lines: Sequence[str] = (), losses: Sequence[float] = ()) -> Trial:
    words: list[dict[str, Any]] = [
        {"told": "update", "step": step, "loss": loss, "losses": 1, "skipped": False, "t": float(step)}
        for step, loss in enumerate(losses)
    ]
    words += [{"told": "line", "step": step, "text": line} for step, line in enumerate(lines)]
    return Trial(Experiment("batch", 9), Path(), words, Ended(0, ""))


@pytest.mark.parametrize(
    ("lines", "name", "higher"),
    [
        (["epoch 1 loss 0.5 acc 0.7 val_loss 0.4 val_acc 0.8"], "val_acc", True),
        (["epoch 1 loss 0.5 acc 0.7 val_loss 0.4"], "val_loss", False),
        (["epoch 1 loss 0.5 acc 0.7"], "acc", True),
        (["epoch 1 loss 0.5"], "training loss", False),
        ([], "training loss", False),
    ],
)
def test_an_accuracy_on_other_data_counts_before_all_else(lines: list[str], name: str, higher: bool) -> None:
    found = choose_metric(trial(lines, [0.5]), None)
    assert found == Metric(name, higher)


def test_the_last_value_counts_and_of_the_training_loss_the_last_tenth() -> None:
    assert ACCURACY.value(trial(["val_acc 0.7", "val_acc 0.9", "val_acc 0.8"])) == 0.8
    losses = [float(one) for one in range(100, 0, -1)]
    assert Metric("training loss", higher=False).value(trial(losses=losses)) == 5.5
    assert ACCURACY.value(trial(["loss 1"])) is None


def test_a_name_that_the_script_does_not_print_is_none() -> None:
    assert choose_metric(trial(["val_acc 0.7"]), "f1") is None
    assert choose_metric(trial(["val_acc 0.7"]), "val_acc") == ACCURACY


@pytest.mark.parametrize(
    ("metric", "values", "course", "width", "why"),
    [
        # A point of accuracy, as a share or in per cent; a twentieth of a loss.
        (ACCURACY, [0.9], [0.7, 0.9], 0.01, "usual"),
        (ACCURACY, [90.0], [70.0, 90.0], 1.0, "usual"),
        (LOSS, [0.4], [0.5, 0.4], 0.02, "usual"),
        # What still rises steadily does not stray.
        (ACCURACY, [0.9], [0.5, 0.6, 0.7, 0.8, 0.9], 0.01, "usual"),
        (ACCURACY, [0.9], [0.5, 0.6, 0.7, 0.8, *[0.9, 0.8] * 3], 2 * 1.4826 * 0.2 / 6**0.5, "course"),
        (ACCURACY, [0.90, 0.80], [0.9], 2 * 0.0707107, "repeats"),
        (ACCURACY, [0.901, 0.900], [0.9], 0.01, "usual"),
    ],
)
def test_the_margin_is_as_wide_as_results_stray(
    metric: Metric, values: list[float], course: list[float], width: float, why: str
) -> None:
    found = margin_of(metric, values, Curve("x", list(range(len(course))), course))
    assert found.width == pytest.approx(width, rel=1e-4)
    assert found.why == why


class Batch:
    """So many samples."""

    def __init__(self, samples: int) -> None:
        self.shape = (samples, 3)
        self.dtype = "float32"


def test_a_loader_whose_batches_are_followed_by_backward_passes_feeds_training() -> None:
    training, other = object(), object()
    feeding = Feeding()
    for _ in range(3):
        for _ in range(4):
            feeding.fetched(training, [Batch(8), "labels"])
            assert list(feeding.trained()) == [(id(training), 8)]
        # An evaluation, broken off: its last batch is still there when training goes on.
        for _ in range(3):
            feeding.fetched(other, Batch(64))
    assert feeding.surely(id(training))
    assert not feeding.surely(id(other))


def test_few_samples_in_the_evaluation_make_the_margin_wide() -> None:
    assert margin_of(ACCURACY, [0.8], None, 100).width == pytest.approx(0.08)
    assert margin_of(ACCURACY, [80.0], None, 100).width == pytest.approx(8)
    assert margin_of(ACCURACY, [0.8], None, 100_000).why == "usual"
    assert margin_of(Metric("acc", higher=True), [0.8], None, 100).why == "usual"


def test_samples_of_an_evaluation_are_counted_and_those_of_training_are_not() -> None:
    training, other = object(), object()
    feeding = Feeding()
    for _ in range(2):
        for _ in range(4):
            feeding.fetched(training, Batch(8))
            assert list(feeding.trained())
        assert feeding.ended(training) == 0
        for _ in range(3):
            feeding.fetched(other, Batch(64))
        assert feeding.ended(other) == 192
