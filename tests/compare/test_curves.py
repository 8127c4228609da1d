"""Where two loss curves part, and that the drift of equal networks is not taken for a difference."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from trueline.compare.curves import compare_curves
from trueline.compare.verdict import Verdict
from trueline.model.curve import Curve

# Losses of examples/digits from equal weights over equal batches, measured on CPU for two seeds.
MEASURED = json.loads((Path(__file__).parent / "measured_drift.json").read_text())


def curve(values: list[float], first: int = 0) -> Curve:
    return Curve("loss", range(first, first + len(values)), values)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("other", ["torch channels_last", "mindspore"])
def test_measured_drift_of_equal_networks_is_noise(other: str, seed: int) -> None:
    found = compare_curves(curve(MEASURED[f"{other} {seed}"]), curve(MEASURED[f"torch {seed}"]))
    assert found.verdict is Verdict.NOISE, found.parts
    assert len(found.common) == 176


def test_another_network_parts_at_the_first_step() -> None:
    found = compare_curves(curve(MEASURED["torch 1"]), curve(MEASURED["torch 0"]))
    assert found.verdict is Verdict.DIFFERS
    assert found.parts is not None and found.parts.step == 0


@pytest.mark.parametrize(("step", "share"), [(0, 1e-4), (5, 1e-3), (20, 1e-2), (60, 0.5)])
def test_a_real_difference_is_found_at_its_step(step: int, share: float) -> None:
    values = MEASURED["torch 0"]
    changed = [value * (1 + share * (place >= step)) for place, value in enumerate(values)]
    found = compare_curves(curve(changed), curve(values))
    assert found.parts is not None and found.parts.step == step


def test_equal_means_every_bit() -> None:
    values = [1.0, math.nan, math.inf, 0.0]
    assert compare_curves(curve(values), curve(list(values))).verdict is Verdict.EQUAL
    assert compare_curves(curve([1.0 + 1e-7]), curve([1.0])).verdict is Verdict.NOISE


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number_on_one_side_only_parts_there(wrong: float) -> None:
    for here, there in (([1.0, wrong], [1.0, 1.0]), ([1.0, 1.0], [1.0, wrong])):
        found = compare_curves(curve(here), curve(there))
        assert found.parts is not None and found.parts.step == 1


def test_half_precision_has_a_wider_band() -> None:
    here, there = curve([2.301, 2.2]), curve([2.305, 2.2])
    assert compare_curves(here, there).verdict is Verdict.DIFFERS
    assert compare_curves(here, there, dtype="bfloat16").verdict is Verdict.NOISE


def test_only_common_steps_are_compared() -> None:
    found = compare_curves(curve([9.0, 1.0, 2.0]), curve([1.0, 2.0, 7.0], first=1))
    assert (len(found.common), found.verdict) == (2, Verdict.EQUAL)
    assert compare_curves(curve([1.0]), curve([1.0], first=5)).verdict is None


LONG = [2.3 / (1 + 0.01 * step) + 0.05 * math.sin(1.7 * step) for step in range(400)]


@pytest.mark.parametrize("begin", [50, 300])
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_fork_after_a_long_equal_beginning_is_found_at_its_step(begin: int, share: float) -> None:
    changed = [value * (1 + share * (step >= begin)) for step, value in enumerate(LONG)]
    found = compare_curves(curve(changed), curve(LONG))
    assert found.parts is not None and found.parts.step == begin


def noisy(values: list[float], seed: int = 0, level: float = 0.02) -> list[float]:
    """Values that have drifted apart as far as rounding brings them in the end, to both sides."""
    draw = random.Random(seed)
    return [
        value * (1 + draw.gauss(0, min(level, 1e-7 * 10 ** min(step / 10, 20)))) for step, value in enumerate(values)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_grown_noise_is_noise_and_an_offset_on_top_of_it_is_not(seed: int) -> None:
    assert compare_curves(curve(noisy(LONG, seed)), curve(LONG)).verdict is Verdict.NOISE
    offset = [value * (1.06 if step >= 200 else 1.0) for step, value in enumerate(noisy(LONG, seed))]
    found = compare_curves(curve(offset), curve(LONG))
    assert found.parts is not None and found.parts.over > 1 and 150 <= found.parts.step <= 220


def test_a_spike_within_a_wide_band_is_found() -> None:
    there = [value * (1 + 1e-4 * (-1) ** step * min(1, step / 40)) for step, value in enumerate(LONG)]
    there[250] *= 1.2
    found = compare_curves(curve(there), curve(LONG))
    assert found.parts is not None and found.parts.step == 250


def test_values_rounded_by_a_log_hide_the_beginning_of_noise() -> None:
    here = [round(value, 3) for value in noisy(LONG, 1, 0.01)]
    there = [round(value, 3) for value in LONG]
    assert compare_curves(curve(here), curve(there), rounded=1e-3).verdict is Verdict.NOISE
