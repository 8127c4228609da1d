"""Two losses on the same outputs and labels: equal ones are silent, and what differs is named and confirmed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pair.parts_project.asking import PROJECT, Sides, functions, parts_of

from trueline.pair.blame import Blame, Cause, StageResult, StageVerdict
from trueline.pair.loss.stage import loss_stage

CE = "torch.nn.CrossEntropyLoss"


@pytest.fixture
def sides(part_sides: Sides) -> Sides:
    return part_sides


def _stage(sides: Sides, folder: Path, bench: str, port: str, more: str = "", **options: object) -> StageResult:
    text = functions(bench_loss=bench, port_loss=port) + more
    return loss_stage(*sides, parts_of(sides, folder, text), **options)


def _causes(found: StageResult) -> list[tuple[Cause, bool]]:
    assert found.verdict is StageVerdict.FOUND
    return [(one.cause, one.confirmed) for one in found.blames]


def _only(found: StageResult) -> Blame:
    assert len(found.blames) == 1
    return found.blames[0]


@pytest.mark.parametrize(
    ("bench", "port"),
    [
        (f"{CE}()", "nn.CrossEntropyLoss()"),
        (f"{CE}()", "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')"),
        (f"{CE}()", "nn.SoftmaxCrossEntropyWithLogits(reduction='mean')"),
        (f"{CE}(label_smoothing=0.1)", "own.SmoothOverAll()"),
        (f"{CE}(weight=torch.tensor([1., 2, 1, 1, .5]))", "nn.CrossEntropyLoss(weight=ms.Tensor([1., 2, 1, 1, .5]))"),
        (f"{CE}(ignore_index=255)", "nn.CrossEntropyLoss(ignore_index=255)"),
        ("torch.nn.HuberLoss(delta=0.5)", "nn.HuberLoss(delta=0.5)"),
        ("torch.nn.BCELoss()", "nn.BCELoss(reduction='mean')"),
        ("torch.nn.KLDivLoss(reduction='batchmean')", "nn.KLDivLoss(reduction='batchmean')"),
        (f"{CE}()", "own.UnsafeLog()"),
    ],
)
def test_equal_losses_are_silent(sides: Sides, tmp_path: Path, bench: str, port: str) -> None:
    found = _stage(sides, tmp_path, bench, port)
    assert found.verdict is StageVerdict.PASSED
    assert found.blames == ()
    assert found.rules_out is not None


def test_smoothing_over_the_other_classes_is_told_from_smoothing_over_all(sides: Sides, tmp_path: Path) -> None:
    blame = _only(_stage(sides, tmp_path, f"{CE}(label_smoothing=0.1)", "own.SmoothOverOthers()"))
    assert (blame.cause, blame.confirmed, blame.latent) == (Cause.SMOOTHING, True, False)
    values = "0.1 over the other K-1 classes in the port, 0.1 over all K classes in the benchmark"
    assert str(blame.message) == f"different label smoothing: {values}"
    assert blame.measured > 100 * blame.limit > 100 * blame.left
    lines = (PROJECT / "mindspore_side.py").read_text().splitlines()
    assert blame.line is not None and lines[blame.line.line - 1].startswith("class SmoothOverOthers")


@pytest.mark.parametrize(
    ("bench", "port", "causes"),
    [
        (f"{CE}(label_smoothing=0.1)", "nn.CrossEntropyLoss()", [Cause.SMOOTHING]),
        (
            f"{CE}(label_smoothing=0.1)",
            "nn.CrossEntropyLoss(label_smoothing=0.2, reduction='sum')",
            [Cause.SMOOTHING, Cause.REDUCTION],
        ),
        (f"{CE}()", "nn.SoftmaxCrossEntropyWithLogits(sparse=True)", [Cause.REDUCTION]),
        ("torch.nn.SmoothL1Loss()", "nn.SmoothL1Loss()", [Cause.REDUCTION]),
        ("torch.nn.SmoothL1Loss()", "nn.SmoothL1Loss(beta=0.5, reduction='mean')", [Cause.ATTRIBUTE]),
        (f"{CE}(weight=torch.tensor([1., 2, 1, 1, .5]))", "nn.CrossEntropyLoss()", [Cause.CLASS_WEIGHTS]),
        ("torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.))", "nn.BCEWithLogitsLoss()", [Cause.CLASS_WEIGHTS]),
        (f"{CE}(ignore_index=0)", "nn.CrossEntropyLoss()", [Cause.IGNORED_INDEX]),
        (f"{CE}()", "own.SoftmaxFirst()", [Cause.LOSS]),
        ("torch.nn.BCELoss()", "nn.BCEWithLogitsLoss()", [Cause.LOSS]),
        ("torch.nn.L1Loss()", "nn.MSELoss()", [Cause.LOSS]),
        (f"{CE}()", "lambda output, labels: 2 * ops.cross_entropy(output, labels)", [Cause.SCALE]),
    ],
)
def test_each_difference_is_named_and_confirmed(
    sides: Sides, tmp_path: Path, bench: str, port: str, causes: list[Cause]
) -> None:
    found = _stage(sides, tmp_path, bench, port)
    assert _causes(found) == [(one, True) for one in causes]
    assert all(one.edit is not None and one.line is not None for one in found.blames)


def test_a_label_that_only_the_benchmark_ignores_is_told_without_trying_it(sides: Sides, tmp_path: Path) -> None:
    blame = _only(_stage(sides, tmp_path, f"{CE}(ignore_index=255)", "nn.CrossEntropyLoss()"))
    assert (blame.cause, blame.latent, blame.bench) == (Cause.IGNORED_INDEX, False, 255)


def test_data_without_such_labels_make_it_latent(sides: Sides, tmp_path: Path) -> None:
    batches = "\ndef batches(): return [(np.zeros((4, 4), np.float32), np.arange(4))]\n"
    blame = _only(_stage(sides, tmp_path, f"{CE}(ignore_index=255)", "nn.CrossEntropyLoss()", batches))
    assert (blame.cause, blame.latent) == (Cause.IGNORED_INDEX, True)


def test_losses_that_are_none_of_the_common_ones(sides: Sides, tmp_path: Path) -> None:
    other = _stage(sides, tmp_path, "own.SumOfSquares()", "own.SumOfSquares()")
    assert _causes(other) == [(Cause.LOSS, False)]
    mean = "lambda output, labels: (output.sin().sum(-1) * (labels + 1)).mean()"
    summed = _stage(sides, tmp_path, mean, mean.replace("mean", "sum"))
    assert _causes(summed) == [(Cause.REDUCTION, False)]


def test_losses_of_maps(sides: Sides, tmp_path: Path) -> None:
    outputs = [np.zeros((2, 4, 12, 12), np.float32)]
    assert _stage(sides, tmp_path, f"{CE}()", "nn.CrossEntropyLoss()", outputs=outputs).verdict == "passed"
    found = _stage(sides, tmp_path, f"{CE}()", "nn.CrossEntropyLoss(reduction='sum')", outputs=outputs)
    assert _causes(found) == [(Cause.REDUCTION, True)]


def test_losses_of_sequences(sides: Sides, tmp_path: Path) -> None:
    outputs = [np.zeros((2, 6, 11), np.float32)]
    bench = "lambda output, labels: torch.nn.functional.cross_entropy(output.reshape(-1, 11), labels.reshape(-1))"
    port = "lambda output, labels: ops.cross_entropy(output.reshape(-1, 11), labels.reshape(-1))"
    assert _stage(sides, tmp_path, bench, port, outputs=outputs).verdict == "passed"
    smooth = port.replace("reshape(-1))", "reshape(-1), label_smoothing=0.1)")
    assert _causes(_stage(sides, tmp_path, bench, smooth, outputs=outputs)) == [(Cause.SMOOTHING, True)]


def test_networks_with_two_outputs(sides: Sides, tmp_path: Path) -> None:
    outputs = [np.zeros((2, 5), np.float32), np.zeros((2, 5), np.float32)]
    bench = "lambda both, labels: sum(torch.nn.functional.cross_entropy(one, labels) for one in both)"
    port = "lambda both, labels: sum(ops.cross_entropy(one, labels) for one in both)"
    assert _stage(sides, tmp_path, bench, port, outputs=outputs).verdict == "passed"
    found = _stage(sides, tmp_path, bench, port.replace("sum(", "0.5 * sum("), outputs=outputs)
    assert _causes(found) == [(Cause.SCALE, False)]


def test_one_output_for_each_sample(sides: Sides, tmp_path: Path) -> None:
    outputs = [np.zeros((2, 1), np.float32)]
    assert _stage(sides, tmp_path, "torch.nn.MSELoss()", "nn.MSELoss()", outputs=outputs).verdict == "passed"
    found = _stage(sides, tmp_path, "torch.nn.MSELoss()", "nn.MSELoss('sum')", outputs=outputs)
    assert _causes(found) == [(Cause.REDUCTION, True)]


def test_no_loss_to_compare_with(sides: Sides, tmp_path: Path) -> None:
    found = loss_stage(*sides, parts_of(sides, tmp_path, functions(bench_loss=f"{CE}()")))
    assert found.verdict is StageVerdict.SKIPPED
    assert "port_loss" in str(found.message)
