"""Two metrics on the same predictions: equal ones are silent, and what differs is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pair.parts_project.asking import Sides, functions, parts_of

from trueline.adapters.guest.trouble import SideTrouble
from trueline.pair.blame import Blame, Cause, StageResult, StageVerdict
from trueline.pair.metrics.stage import metric_stage

TOP1 = "lambda scores, labels: (scores.argmax(1) == labels).float().mean()"
GATHERING = """
class Gathering:
    def __init__(self, by_batch): self.by_batch = by_batch
    def reset(self): self.shares, self.sizes = [], []
    def update(self, scores, labels):
        self.shares.append((np.asarray(scores).argmax(1) == np.asarray(labels)).mean())
        self.sizes.append(len(labels))
    def compute(self):
        return np.mean(self.shares) if self.by_batch else np.average(self.shares, weights=self.sizes)
"""


@pytest.fixture
def sides(part_sides: Sides) -> Sides:
    return part_sides


def _stage(sides: Sides, folder: Path, bench: str, port: str) -> StageResult:
    text = functions(bench_metric=bench, port_metric=port) + GATHERING
    return metric_stage(*sides, parts_of(sides, folder, text))


def _only(found: StageResult) -> Blame:
    assert found.verdict is StageVerdict.FOUND
    assert len(found.blames) == 1
    assert found.blames[0].cause is Cause.METRIC
    return found.blames[0]


@pytest.mark.parametrize(
    ("bench", "port"),
    [
        (TOP1, "nn.Accuracy()"),
        (TOP1, "lambda scores, labels: (scores.argmax(1) == labels).astype(ms.float32).mean()"),
        (TOP1, "lambda scores, labels: (np.argmax(scores.asnumpy(), 1) == labels.asnumpy()).mean()"),
        ("Gathering(False)", "Gathering(False)"),
        ("lambda found, wanted: ((found - wanted) ** 2).sum() / len(found)", "nn.MSE()"),
    ],
)
def test_equal_metrics_are_silent(sides: Sides, tmp_path: Path, bench: str, port: str) -> None:
    assert _stage(sides, tmp_path, bench, port).verdict is StageVerdict.PASSED


@pytest.mark.parametrize(
    ("bench", "port", "named"),
    [
        (TOP1, "nn.Top5CategoricalAccuracy()", ("accuracy", "top_5")),
        (
            TOP1,
            "lambda scores, labels: 100 * (scores.asnumpy().argmax(1) == labels.asnumpy()).mean()",
            ("accuracy", "accuracy x 100"),
        ),
        ("Gathering(False)", "Gathering(True)", ("accuracy", "accuracy by batch")),
        ("lambda found, wanted: ((found - wanted) ** 2).mean()", "nn.MSE()", ("mean_squared", "squared_by_sample")),
        (TOP1, "own.macro_recall", ("accuracy", "macro_recall")),
        (
            "lambda found, wanted: ((found - wanted) ** 2).mean()",
            "lambda found, wanted: (found - wanted).abs().mean()",
            ("mean_squared", "mean_absolute"),
        ),
    ],
)
def test_what_each_side_counts_is_named(
    sides: Sides, tmp_path: Path, bench: str, port: str, named: tuple[str, str]
) -> None:
    blame = _only(_stage(sides, tmp_path, bench, port))
    assert (blame.bench, blame.port) == named
    assert blame.confirmed and not blame.latent
    assert blame.line is not None


def test_which_of_equal_scores_comes_first_is_no_difference(sides: Sides, tmp_path: Path) -> None:
    assert not _stage(sides, tmp_path, TOP1, "nn.Top1CategoricalAccuracy()").blames


def test_scores_of_sequences(sides: Sides, tmp_path: Path) -> None:
    bench = "lambda scores, labels: (scores.argmax(-1) == labels).float().mean()"
    port = "lambda scores, labels: 100 * (scores.argmax(-1) == labels).astype(ms.float32).mean()"
    parts = parts_of(sides, tmp_path, functions(bench_metric=bench, port_metric=port))
    blame = _only(metric_stage(*sides, parts, outputs=[np.zeros((2, 5, 9), np.float32)]))
    assert (blame.bench, blame.port) == ("accuracy", "accuracy x 100")


def test_numbers_by_name(sides: Sides, tmp_path: Path) -> None:
    bench = "lambda scores, labels: {'top1': (scores.argmax(1) == labels).float().mean(), 'count': len(labels)}"
    port = "lambda scores, labels: {'top1': (scores.asnumpy().argmax(1) == labels.asnumpy()).mean()}"
    assert "count" in str(_only(_stage(sides, tmp_path, bench, port)).message)


def test_a_metric_that_fails_is_one_line(sides: Sides, tmp_path: Path) -> None:
    with pytest.raises(SideTrouble, match="mindspore_side:net: the metric raised ZeroDivisionError"):
        _stage(sides, tmp_path, TOP1, "lambda scores, labels: 1 / 0")
