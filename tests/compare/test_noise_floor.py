"""Repeated runs to floors: the furthest of the tries, what can switch, and what makes a repetition worthless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueline.compare.noise_floor import (
    MARGINS,
    PROBE_ULPS,
    Tried,
    furthest,
    measure_try,
    read_noise,
    with_switches,
)
from trueline.compare.repeated import why_not_repeated
from trueline.formats.run_folder.noise import write_noise
from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.kernel import fingerprint, summarise
from trueline.model.key import Key
from trueline.model.noise import Drift, LossDrift, Noise
from trueline.model.run import ParamInfo, RunInfo
from trueline.model.sample import Batch, SampleField

UNIT = 2.0**-23
OUT = Key.of("conv", "out")
GRADIENT = Key.of("conv", "grad", "weight")
BIAS = Key.of("conv", "grad", "bias")
COUNT = Key.of("bn", "buffer", "count")
VALUES = np.random.RandomState(0).randn(4, 8).astype(np.float32)


def _batch(values: Any) -> dict[str, Any]:
    numbers = {name: [float(getattr(row, name)()) for row in values] for name in ("mean", "std", "min", "max")}
    prints = [fingerprint(row) for row in values]
    field = SampleField("x", values.shape[1:], "float32", prints, *numbers.values())
    return Batch(len(values), [field]).to_json()


def _run(
    folder: Path,
    tensors: Mapping[Key, Any],
    losses: Sequence[float] = (2.0, 1.5),
    *,
    weight: Any = VALUES,
    batch: Any = VALUES,
) -> RankFolder:
    writer = RankWriter(folder)
    writer.write_info(RunInfo(id=folder.name))
    writer.write_params([ParamInfo("conv.weight", weight.shape, "float32", True, initial=summarise(weight))])
    for step, loss in enumerate(losses):
        common = {"step": step, "phase": "train", "t": float(step)}
        events = [
            {"event": "batch", "source": "loader", "samples": _batch(batch), **common},
            {"event": "loss", "value": loss, **common},
            {"event": "end", "seconds": 1.0, **common},
        ]
        writer.finish_step(step, "train", events, tensors=dict(tensors) if step == 0 else None)
    writer.close()
    return open_run(folder).rank()


def _off(array: Any, share: float) -> Any:
    return (array + share * np.abs(array).max()).astype(array.dtype)


def test_a_floor_is_the_furthest_of_all_tries(tmp_path: Path) -> None:
    first = _run(tmp_path / "first", {OUT: VALUES, COUNT: np.array([3])})
    tries = [
        measure_try(first, _run(tmp_path / name, {OUT: _off(VALUES, share), COUNT: np.array([3])}, losses), [0], 2)
        for name, share, losses in (("a", 1e-5, (2.0, 1.6)), ("b", 4e-5, (2.1, 1.5)))
    ]
    found = furthest(tries)
    assert found.drifts[OUT, 0].level == max(one.drifts[OUT, 0].level for one in tries)
    assert found.drifts[OUT, 0].relative_max == pytest.approx(4e-5, rel=0.05)
    assert found.drifts[COUNT, 0] == Drift(0.0, 0.0, 0.0, 0.0)
    assert [found.losses[step].spread for step in (0, 1)] == pytest.approx([0.1, 0.1])
    assert [found.losses[step].value for step in (0, 1)] == [2.0, 1.5]


def test_a_gradient_that_is_zero_but_for_rounding_is_measured_by_its_module_s_largest(tmp_path: Path) -> None:
    tiny = np.full(8, 1e-9, np.float32)
    first = _run(tmp_path / "first", {GRADIENT: VALUES, BIAS: tiny})
    again = _run(tmp_path / "again", {GRADIENT: VALUES, BIAS: -tiny})
    drift = measure_try(first, again, [0], 2).drifts[BIAS, 0]
    assert drift.relative_max == pytest.approx(2.0)
    assert drift.level == pytest.approx(2e-9 / (0.1 * np.abs(VALUES).max()), rel=1e-5)


def test_a_tensor_that_only_one_run_has_or_that_is_not_finite_was_not_measured(tmp_path: Path) -> None:
    broken = VALUES.copy()
    broken[0, 0] = np.nan
    first = _run(tmp_path / "first", {OUT: VALUES, GRADIENT: VALUES, BIAS: VALUES})
    again = _run(tmp_path / "again", {OUT: broken, BIAS: VALUES[:2]}, (2.0, float("nan")))
    tried = measure_try(first, again, [0], 2)
    assert tried.drifts == {}
    assert set(tried.losses) == {0}


def _tried(levels: Sequence[float], spreads: Sequence[float]) -> Tried:
    keys = [(Key.of(f"layer{place}", "gout"), place // 2) for place in range(len(levels))]
    return Tried(
        {at: Drift(level, level, level, UNIT) for at, level in zip(keys, levels, strict=True)},
        {step: LossDrift(2.0, spread) for step, spread in enumerate(spreads)},
    )


def test_once_something_has_switched_all_that_follows_may_have() -> None:
    small = _tried([1e-7, 1e-7, 1e-7, 1e-7], [1e-7, 1e-7, 1e-7])
    linear = 1e-7 * PROBE_ULPS
    smooth = with_switches(small, _tried([linear] * 4, [linear] * 3))
    assert [one.switched for one in smooth.drifts.values()] == [0, 0, 0, 0]
    assert [one.switched for one in smooth.losses.values()] == [0, 0, 0]
    switched = with_switches(small, _tried([linear, 0.3, linear, 0.1], [linear, 1e-3, 1e-2]))
    assert [one.switched for one in switched.drifts.values()] == [0, 0.3, linear, 0.1]
    assert [one.switched for one in switched.losses.values()] == [0, 1e-3, 1e-2]
    late = with_switches(small, _tried([linear] * 4, [linear, linear, 0.1]))
    assert [one.switched for one in late.losses.values()] == [0, 0, 0.1]


def test_what_is_read_has_the_margins_of_verdicts(tmp_path: Path) -> None:
    _run(tmp_path / "run", {OUT: VALUES})
    run = open_run(tmp_path / "run")
    assert read_noise(run) is None
    write_noise(tmp_path / "run", Noise(3, {}, {(OUT, 0): Drift(1e-6, 1e-6, 1e-7, UNIT)}))
    noise = read_noise(run)
    assert noise is not None
    assert noise.floor(OUT, 0) == pytest.approx(MARGINS.tensor * 1e-6)


def test_a_repetition_is_worth_something_only_if_it_is_the_same_run(tmp_path: Path) -> None:
    other = np.random.RandomState(1).randn(4, 8).astype(np.float32)
    first = _run(tmp_path / "first", {OUT: VALUES})
    cases: dict[str, tuple[dict[str, Any], str | None]] = {
        "same": ({"tensors": {OUT: VALUES}}, None),
        "rounded": ({"tensors": {OUT: _off(VALUES, 1e-7)}, "weight": VALUES * np.float32(1 + UNIT)}, None),
        "weights": ({"tensors": {OUT: VALUES}, "weight": other}, "noise.weights_differ"),
        "data": ({"tensors": {OUT: VALUES}, "batch": other}, "noise.batches_differ"),
        "dropout": ({"tensors": {OUT: VALUES * (other > 0)}}, "noise.tensors_differ"),
    }
    for name, (given, wanted) in cases.items():
        again = _run(tmp_path / name, **given)
        said = why_not_repeated(first, again, measure_try(first, again, [0], 2), 2)
        assert (said.id if said is not None else None) == wanted, name
