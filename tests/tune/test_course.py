"""Which way a validation curve goes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trueline.model.curve import Curve
from trueline.tune.epochs.course import Way, course_of


def _curve(values: list[float], name: str = "val_loss") -> Curve:
    return Curve(name, list(range(10, 10 + len(values))), values)


@pytest.mark.parametrize(
    ("values", "way", "best"),
    [
        ([1.0, 0.8, 0.6, 0.5, 0.42, 0.36], Way.FALLING, 5),
        ([1.0, 0.6, 0.45, 0.4, 0.44, 0.5, 0.57], Way.PAST, 3),
        ([1.0, 0.6, 0.45, 0.41, 0.402, 0.4, 0.399], Way.SETTLED, 6),
        # One bump, at the end and before, is nothing.
        ([1.0, 0.6, 0.45, 0.41, 0.402, 0.4, 0.6], Way.SETTLED, 5),
        ([1.0, 0.6, 0.45, 0.9, 0.41, 0.402, 0.4], Way.SETTLED, 6),
        ([1.0, 0.8, 0.6, 0.5], Way.TOO_FEW, 3),
        # Up by less than 2 %.
        ([1.0, 0.6, 0.5, 0.402, 0.4, 0.404, 0.405, 0.404], Way.SETTLED, 4),
        ([1.0, 0.5, math.nan, 0.45, 0.43, 0.44, 0.43, math.inf], Way.SETTLED, 3),
    ],
)
def test_losses(values: list[float], way: Way, best: int) -> None:
    found = course_of(_curve(values))
    assert (found.way, found.best) == (way, best)


@pytest.mark.parametrize(
    ("values", "way"),
    [
        ([0.5, 0.7, 0.8, 0.85, 0.88, 0.9], Way.FALLING),
        ([50.0, 70.0, 90.0, 93.0, 91.0, 88.0, 86.0], Way.PAST),
        ([0.5, 0.8, 0.9, 0.93, 0.931, 0.931, 0.93], Way.SETTLED),
    ],
)
def test_accuracies_are_the_better_the_higher(values: list[float], way: Way) -> None:
    found = course_of(_curve(values, "val_acc"))
    assert found.higher
    assert found.way is way
    assert found.best_value == max(values)


@pytest.mark.parametrize("seed", range(8))
def test_noise_around_a_level_is_neither_falling_nor_past_its_best(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = (0.5 + np.exp(-np.arange(30) / 3) + 0.03 * random.standard_normal(30)).tolist()
    assert course_of(_curve(values)).way is Way.SETTLED


@pytest.mark.parametrize("seed", range(4))
def test_a_rise_is_seen_through_noise(seed: int) -> None:
    random = np.random.default_rng(seed)
    place = np.arange(30)
    values = (0.5 + np.exp(-place / 3) + 0.02 * np.maximum(place - 12, 0) + 0.03 * random.standard_normal(30)).tolist()
    found = course_of(_curve(values))
    assert found.way is Way.PAST
    assert 6 <= found.best <= 17


def test_values_that_are_not_finite_are_counted_and_left_out() -> None:
    found = course_of(_curve([1.0, math.nan, 0.5, 0.45, 0.44, 0.44, 0.44]))
    assert found.left_out == 1
    assert 11 not in found.curve.steps
