"""Bounds of a range test, on trainings whose good range is known by calculation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trueline.tune.lr.bounds import find_bounds
from trueline.tune.lr.divergence import Divergence
from trueline.tune.rates import EXPONENTIAL, LINEAR, rate_at


def _descended(
    eigenvalues: list[float], rates: list[float], *, momentum: float = 0.0, noise: float = 0.0, seed: int = 0
) -> list[float]:
    """The loss of least squares after a step at each rate, along the axes of its Hessian."""
    random = np.random.default_rng(seed)
    curvature = np.array(eigenvalues)
    error, velocity = np.ones_like(curvature), np.zeros_like(curvature)
    losses = []
    for rate in rates:
        velocity = momentum * velocity + curvature * error
        error = error - rate * velocity
        loss = float((curvature * error**2).sum() / 2)
        losses.append(loss * (1 + noise * random.standard_normal()) + noise)
    return losses


def _rates(low: float, high: float, count: int = 100, shape: str = EXPONENTIAL) -> list[float]:
    return [rate_at(shape, low, high, place / (count - 1)) for place in range(count)]


@pytest.mark.parametrize("largest", [0.5, 8.0, 300.0])
@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("count", [60, 100, 400])
def test_gradient_descent_stays_below_where_it_diverges(largest: float, noise: float, count: int) -> None:
    diverges = 2 / largest
    eigenvalues = [largest, largest / 3, largest / 10, largest / 30]
    rates = _rates(diverges / 5000, diverges * 50, count)
    found = find_bounds(rates, _descended(eigenvalues, rates, noise=noise))
    assert found.upper is not None
    assert found.suggestion is not None
    assert diverges / 4 < found.upper < diverges
    assert found.lower is not None
    assert diverges / 1000 < found.lower < diverges / 5
    assert found.lower <= found.suggestion <= found.upper / 2


def test_momentum_that_swings_is_not_taken_for_the_end() -> None:
    rates = _rates(1e-4, 10)
    found = find_bounds(rates, _descended([2.0, 1.0, 0.5], rates, momentum=0.9), momentum=0.9)
    assert found.upper is not None
    # Heavy ball diverges above 2 * 1.9 / 2.
    assert 0.3 < found.upper < 1.9


def test_rates_that_rise_by_a_difference_have_bounds_too() -> None:
    rates = _rates(1e-4, 1.0, shape=LINEAR)
    found = find_bounds(rates, _descended([8.0, 2.0, 0.5, 0.1], rates))
    assert found.upper is not None
    assert 0.06 < found.upper < 0.25


def test_what_never_gets_better_has_no_bounds() -> None:
    random = np.random.default_rng(3)
    rates = _rates(1e-4, 1.0)
    found = find_bounds(rates, (2.3 + 0.1 * random.standard_normal(100)).tolist())
    assert not found.gained
    assert (found.lower, found.upper, found.suggestion) == (None, None, None)


def test_what_only_gets_worse_has_no_bounds() -> None:
    random = np.random.default_rng(3)
    rates = _rates(1e-4, 1.0)
    losses = 2.3 + 0.05 * random.standard_normal(100) + np.linspace(0, 2, 100) ** 4
    assert not find_bounds(rates, losses.tolist()).gained


def test_what_gets_better_to_the_last_rate_has_no_upper_bound() -> None:
    rates = _rates(1e-6, 1e-2)
    found = find_bounds(rates, _descended([8.0, 2.0], rates))
    assert found.upper is None
    assert found.lower is not None
    assert found.suggestion == found.steepest


def test_what_gets_better_from_the_first_rate_has_no_lower_bound() -> None:
    rates = _rates(0.3, 30)
    found = find_bounds(rates, _descended([1.0, 0.8, 0.5], rates), before=1.15)
    assert found.lower is None
    assert found.upper is not None


def test_a_loss_that_is_no_number_any_more_is_an_end() -> None:
    rates = _rates(1e-4, 1.0)
    losses = [2.3 - min(place, 80) / 40 if place < 85 else math.nan for place in range(100)]
    found = find_bounds(rates, losses)
    assert found.upper is not None
    assert found.upper < rates[85]
    assert len(found.smoothed) == 85


def test_few_points_say_nothing() -> None:
    assert not find_bounds([1.0, 2.0], [3.0, 1.0]).gained


def test_divergence_is_seen_when_it_is_clear_and_not_before() -> None:
    divergence = Divergence()
    falling = [2.3 - 0.02 * place for place in range(60)]
    assert not any(divergence.shows(loss) for loss in falling)
    assert not divergence.shows(9.0)
    assert not any(divergence.shows(loss) for loss in (1.2, 2.0, 2.5, 3.0))
    assert any(divergence.shows(loss) for loss in (20.0, 30.0, 50.0))
    assert Divergence().shows(math.nan) is False
    assert divergence.shows(math.inf)
