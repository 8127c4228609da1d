"""Where two loss curves part, and that the drift of equal networks is not taken for a difference."""

from __future__ import annotations

import json
import math
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
