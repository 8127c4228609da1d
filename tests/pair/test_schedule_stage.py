"""Both learning rates as curves: per step or per epoch, warm-up, end value, one step off."""

from __future__ import annotations

from pathlib import Path

import pytest
from pair.optimizer_parts import Sides, optimizers

from trueline.model.report import Curves
from trueline.pair.blame import Cause, StageResult, StageVerdict
from trueline.pair.update.schedule_stage import schedule_stage

HEAD = """
import math
steps_per_epoch = 10
epochs = 6
def cosine(step, steps=60, top=0.1, end=0.0):
    return end + (top - end) * (1 + math.cos(math.pi * min(step, steps) / steps)) / 2
def warm(step, over=10, steps=60):
    return 0.1 * (step + 1) / over if step < over else cosine(step - over, steps - over)
"""
COSINE = "return optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)"
STEP_LR = "return optim.lr_scheduler.StepLR(optimizer, 2, 0.5)"
WARM = "return optim.lr_scheduler.LambdaLR(optimizer, lambda step: warm(step) / 0.1)"

SILENT = {
    "list_in_the_optimizer": (COSINE, "[cosine(k) for k in range(60)]", "return None", ""),
    "cell": (COSINE, "nn.CosineDecayLR(0.0, 0.1, 60)", "return None", ""),
    "list": (COSINE, "0.1", "return [cosine(k) for k in range(60)]", ""),
    "function": (COSINE, "0.1", "return cosine", ""),
    "per_epoch_as_steps": (STEP_LR, "[0.1 * 0.5 ** (k // 20) for k in range(60)]", "return None", "epoch"),
    "warm_up": (WARM, "[warm(k) for k in range(60)]", "return None", ""),
}
FAULTS = {
    "per_step_for_per_epoch": (STEP_LR, "[0.1 * 0.5 ** (k // 2) for k in range(60)]", "epoch", Cause.SCHEDULE_UNIT),
    "per_epoch_for_per_step": (COSINE, "[cosine(k // 10) for k in range(60)]", "", Cause.SCHEDULE_UNIT),
    "once_per_epoch": (COSINE, "[cosine(k // 10 * 10) for k in range(60)]", "", Cause.SCHEDULE_UNIT),
    "no_warm_up": (WARM, "[cosine(k) for k in range(60)]", "", Cause.WARM_UP),
    "shorter_warm_up": (WARM, "[warm(k, over=5) for k in range(60)]", "", Cause.WARM_UP),
    "warm_up_from_elsewhere": (
        WARM,
        "[max(0.05, warm(k)) if k < 20 else warm(k) for k in range(60)]",
        "",
        Cause.WARM_UP,
    ),
    "end_value": (COSINE, "[cosine(k, end=0.01) for k in range(60)]", "", Cause.SCHEDULE_END),
    "half_as_long": (COSINE, "[cosine(k, steps=30) for k in range(60)]", "", Cause.SCHEDULE_END),
    "twice_as_long": (COSINE, "nn.CosineDecayLR(0.0, 0.1, 120)", "", Cause.SCHEDULE_END),
    "rate": (COSINE, "[10 * cosine(k) for k in range(60)]", "", Cause.LEARNING_RATE),
    "one_step_late": (COSINE, "[cosine(max(k - 1, 0)) for k in range(60)]", "", Cause.SCHEDULE),
    "none": (COSINE, "0.1", "", Cause.SCHEDULE),
    "other_milestones": (
        "return optim.lr_scheduler.MultiStepLR(optimizer, [10, 40])",
        "[0.1 if k < 20 else 0.01 if k < 45 else 0.001 for k in range(60)]",
        "",
        Cause.SCHEDULE,
    ),
}


@pytest.fixture
def sides(trained_sides: Sides) -> Sides:
    return trained_sides


def _found(sides: Sides, folder: Path, bench: str, rate: str, port: str = "return None", per: str = "") -> StageResult:
    text = HEAD + optimizers("optim.SGD(params, 0.1, momentum=0.9)", f"nn.Momentum(params, {rate}, 0.9)")
    text += f"\ndef bench_schedule(optimizer):\n    from torch import optim\n    {bench}\n"
    text += f"def port_schedule(optimizer):\n    {port}\n"
    text += f"bench_schedule_per = {per!r}\n" if per else ""
    parts = sides.parts(folder / "schedule_parts.py", text)
    return schedule_stage(sides.bench, sides.port, sides.aligned, parts)


@pytest.mark.parametrize("name", SILENT)
def test_the_same_rates_are_silent_however_they_are_written(sides: Sides, tmp_path: Path, name: str) -> None:
    found = _found(sides, tmp_path, *SILENT[name])
    assert found.verdict is StageVerdict.PASSED
    assert not found.blames


@pytest.mark.parametrize("name", FAULTS)
def test_another_schedule_is_named(sides: Sides, tmp_path: Path, name: str) -> None:
    bench, rate, per, cause = FAULTS[name]
    found = _found(sides, tmp_path, bench, rate, per=per)
    (blame,) = found.blames
    assert blame.cause is cause
    assert blame.message.text("en") and blame.message.text("zh")
    assert blame.edit is not None and blame.edit.text("en") and blame.edit.text("zh")
    assert blame.line is not None
    (block,) = found.blocks
    assert isinstance(block, Curves)
    assert [len(one) for one in block.curves] == [60, 60]
    assert block.mark is not None


def test_a_step_off_says_so(sides: Sides, tmp_path: Path) -> None:
    bench, rate, per, _ = FAULTS["one_step_late"]
    (blame,) = _found(sides, tmp_path, bench, rate, per=per).blames
    assert blame.confirmed
    assert "1 step too late" in blame.message.text("en")


@pytest.mark.parametrize("name", ["no_warm_up", "shorter_warm_up"])
def test_a_warm_up_is_confirmed_where_the_rest_is_the_same(sides: Sides, tmp_path: Path, name: str) -> None:
    bench, rate, per, _ = FAULTS[name]
    (blame,) = _found(sides, tmp_path, bench, rate, per=per).blames
    assert blame.confirmed


def test_a_long_training_is_looked_at_here_and_there(sides: Sides, tmp_path: Path) -> None:
    text = "steps_per_epoch = 500\nepochs = 90\n" + optimizers(
        "optim.SGD(params, 0.1)", "nn.SGD(params, [0.1 ** (1 + min(k // 30, 2)) for k in range(45000)])"
    )
    text += "def bench_schedule(optimizer):\n    from torch import optim\n"
    text += "    return optim.lr_scheduler.StepLR(optimizer, 30)\nbench_schedule_per = 'epoch'\n"
    parts = sides.parts(tmp_path / "long_parts.py", text)
    (blame,) = schedule_stage(sides.bench, sides.port, sides.aligned, parts).blames
    assert blame.cause is Cause.SCHEDULE_UNIT
    assert blame.confirmed


def test_without_schedules_there_is_nothing_to_compare(sides: Sides, tmp_path: Path) -> None:
    parts = sides.parts(tmp_path / "plain_parts.py", optimizers("optim.SGD(params, 0.1)", "nn.SGD(params, 0.1)"))
    found = schedule_stage(sides.bench, sides.port, sides.aligned, parts)
    assert found.verdict is StageVerdict.SKIPPED
