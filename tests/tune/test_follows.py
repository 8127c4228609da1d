"""Whether the weights follow the rate that is set: a rate that reads back right may still have no effect."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trueline.tune.lr.tested import follows
from trueline.tune.rates import EXPONENTIAL, rate_at
from trueline.tune.told import Update, update_of


def _updates(moved: Callable[[float, float], float], low: float = 1e-5) -> list[Update]:
    """Of a training whose loss falls as the rates add up; ``moved`` is given the rate and the gradient."""
    found, error = [], 1.0
    for place in range(60):
        rate = rate_at(EXPONENTIAL, low, 1.0, place / 59)
        word = {"told": "update", "step": place, "loss": error**2, "skipped": False, "t": 0.0, "rate": rate}
        update = update_of({**word, "moved": moved(rate, error)})
        assert update is not None
        found.append(update)
        error *= max(1 - rate, 0.01)
    return found


@pytest.mark.parametrize("low", [1e-5, 1e-2])
@pytest.mark.parametrize("moved", [lambda rate, gradient: rate * gradient, lambda rate, _: rate])
def test_gradient_descent_and_adam_follow(moved: Callable[[float, float], float], low: float) -> None:
    assert follows(_updates(moved, low))


@pytest.mark.parametrize("moved", [lambda _, gradient: 0.1 * gradient, lambda *_: 0.1, lambda *_: 0.0])
def test_a_rate_without_effect_is_noticed(moved: Callable[[float, float], float]) -> None:
    assert not follows(_updates(moved))


def test_weights_too_coarse_for_the_smallest_rates_follow() -> None:
    assert follows(_updates(lambda rate, gradient: rate * gradient if rate > 1e-3 else 0.0))
