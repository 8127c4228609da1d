"""A few steps of training on the same batches: a correct port stays in the noise band, a fault leaves it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pair.optimizer_parts import Sides, optimizers

from trueline.model.report import Curves
from trueline.pair.blame import StageResult, StageVerdict
from trueline.pair.curve_stage import _within, curve_stage
from trueline.pair.questions.model import GetWeights
from trueline.pair.sides.parts import Parts

IMAGES = [np.random.default_rng(1).standard_normal((4, 3, 12, 12)).astype(np.float32)]
LOSSES = """
def bench_loss():
    import torch
    return torch.nn.CrossEntropyLoss({bench})
def port_loss():
    from mindspore import nn
    return nn.CrossEntropyLoss({port})
"""
SGD = optimizers("optim.SGD(params, 0.05, momentum=0.9)", "nn.Momentum(params, 0.05, 0.9)")
BATCHES = """
import numpy as np
def batches():
    random = np.random.default_rng(5)
    return [(random.normal(size=(4, 3, 8, 8)).astype(np.float32), random.integers(0, 5, 4)) for _ in range(5)]
"""


@pytest.fixture
def sides(trained_sides: Sides) -> Sides:
    return trained_sides


def _found(sides: Sides, folder: Path, text: str) -> StageResult:
    parts = sides.parts(folder / "curve_parts.py", text)
    return curve_stage(sides.bench, sides.port, parts, IMAGES)


def test_without_parts_plain_steps_are_compared(sides: Sides) -> None:
    found = curve_stage(sides.bench, sides.port, Parts(), IMAGES)
    assert found.verdict is StageVerdict.PASSED
    assert not found.blames
    (block,) = found.blocks
    assert isinstance(block, Curves)
    assert [len(one) for one in block.curves] == [8, 8]
    assert block.band is not None and len(block.band.low) == 8


def test_the_users_loss_optimizer_and_batches_are_used(sides: Sides, tmp_path: Path) -> None:
    found = _found(sides, tmp_path, SGD + LOSSES.format(bench="", port="") + BATCHES)
    assert found.verdict is StageVerdict.PASSED
    (block,) = found.blocks
    losses = block.curves[0].values
    # The same five batches come again: they have been learned from.
    assert losses[5] < losses[0]


def test_labels_are_made_where_there_are_none(sides: Sides, tmp_path: Path) -> None:
    assert _found(sides, tmp_path, SGD + LOSSES.format(bench="", port="")).verdict is StageVerdict.PASSED


def test_another_loss_shows_in_the_first_step(sides: Sides, tmp_path: Path) -> None:
    found = _found(sides, tmp_path, SGD + LOSSES.format(bench="label_smoothing=0.1", port="") + BATCHES)
    (blame,) = found.blames
    assert blame.message.id == "pair_update.curve_first"


def test_another_optimizer_shows_in_the_second_step(sides: Sides, tmp_path: Path) -> None:
    other = optimizers("optim.SGD(params, 0.05, momentum=0.9)", "nn.Momentum(params, 0.04, 0.9)")
    found = _found(sides, tmp_path, other + LOSSES.format(bench="", port="") + BATCHES)
    (blame,) = found.blames
    assert blame.message.id == "pair_update.curve_second"
    assert found.blocks[0].mark == 1


def test_schedules_take_part(sides: Sides, tmp_path: Path) -> None:
    text = SGD.replace("nn.Momentum(params, 0.05, 0.9)", "nn.Momentum(params, [0.05 / (1 + k) for k in range(9)], 0.9)")
    text += "def bench_schedule(optimizer):\n    import torch\n"
    text += "    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))\n"
    assert _found(sides, tmp_path, text + LOSSES.format(bench="", port="") + BATCHES).verdict is StageVerdict.PASSED
    late = text.replace("0.05 / (1 + k)", "0.05 / max(1, k)")
    found = _found(sides, tmp_path, late + LOSSES.format(bench="", port="") + BATCHES)
    assert [one.message.id for one in found.blames] == ["pair_update.curve_later"]


def test_the_models_are_afterwards_as_they_were(sides: Sides) -> None:
    pairs = sides.aligned.pairs

    def weights() -> list[np.ndarray]:
        there = sides.bench.answer(GetWeights([pair.bench.name for pair in pairs]))
        here = sides.port.answer(GetWeights([pair.port.name for pair in pairs]))
        return [*there.values(), *here.values()]

    before = weights()
    curve_stage(sides.bench, sides.port, Parts(), IMAGES, steps=3, tries=1)
    assert all(np.array_equal(one, other) for one, other in zip(before, weights(), strict=True))


def test_a_training_that_leaves_its_own_line_by_roundings_is_no_measure_of_the_ports() -> None:
    there, tried = [1.0, 0.9, 0.8], {(1, 1): [1.0, 0.9 + 1e-4, 0.83], (1, 2): [1.0 + 1e-6, 0.9, 0.7]}
    assert _within([1.0 + 2e-6, 0.9 - 2e-4, 1.0], there, tried)
    assert not _within([1.0 + 1e-5, 0.9, 0.8], there, tried)
    assert not _within([1.0, 0.9 + 1e-3, 0.8], there, tried)
