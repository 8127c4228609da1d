"""Which way a validation curve goes: still getting better, past its best, or settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Final

from trueline.model.curve import Curve
from trueline.tune.logged import higher_is_better

FEWEST: Final = 5
# What a change must be to count, relative to the loss, of an accuracy relative to what is missing to all.
LEAST: Final = 0.02
# And how many times what chance makes of a single evaluation.
_ABOVE_CHANCE: Final = 2.0
# So many evaluations in a row must be worse than the best: one alone is a bump.
_AFTER_BEST: Final = 2
# The part of the curve, at its end, whose improvement is looked at.
_LAST: Final = 5


class Way(StrEnum):
    """Which way it goes."""

    FALLING = "falling"
    PAST = "past"
    SETTLED = "settled"
    TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True)
class Course:
    """A curve and its way.

    ``best`` is the place of its best value, ``change`` how far it lies from the best at the end (past its best) or how
    much the last evaluations have gained (else), as a share; ``left_out`` how many values are not finite.
    """

    curve: Curve
    way: Way
    best: int
    change: float
    higher: bool
    left_out: int = 0

    @property
    def best_value(self) -> float:
        """The best value."""
        return self.curve.values[self.best]

    @property
    def best_step(self) -> int:
        """Where the best value is."""
        return self.curve.steps[self.best]


def course_of(curve: Curve) -> Course:
    """Look at a curve; values that are not finite are left out."""
    points = [(step, value) for step, value in zip(curve.steps, curve.values, strict=True) if math.isfinite(value)]
    left_out = len(curve) - len(points)
    curve = Curve(curve.name, [step for step, _ in points], [value for _, value in points])
    higher = higher_is_better(curve.name)
    values = [-one if higher else one for one in curve.values]
    best = min(range(len(values)), key=lambda place: values[place], default=0)
    if len(values) < FEWEST:
        return Course(curve, Way.TOO_FEW, best, 0.0, higher, left_out)
    chance = _ABOVE_CHANCE * _chance(values)
    worse = min(values[-_AFTER_BEST:]) - values[best]
    scale = _scale(curve, best)
    if best < len(values) - _AFTER_BEST and worse > max(LEAST * scale, chance):
        return Course(curve, Way.PAST, best, worse / scale, higher, left_out)
    last = max(len(values) // _LAST, 1)
    gained = min(values[:-last]) - min(values[-last:])
    scale = _scale(curve, min(range(len(values) - last), key=lambda place: values[place]))
    falling = gained > max(LEAST * scale, chance)
    return Course(curve, Way.FALLING if falling else Way.SETTLED, best, max(gained, 0.0) / scale, higher, left_out)


def _chance(values: Sequence[float]) -> float:
    """How far chance moves one value: from how far each lies off the line between its neighbours."""
    off = [
        abs(value - (before + after) / 2) for before, value, after in zip(values, values[1:], values[2:], strict=False)
    ]
    # The curve bends most at its beginning, which is no chance: the later half tells.
    return median(off[len(off) // 2 :]) / (0.6745 * math.sqrt(1.5))


def _scale(curve: Curve, place: int) -> float:
    """What a change is held against: the value, of an accuracy what is missing to 1 or to 100."""
    value = curve.values[place]
    if higher_is_better(curve.name):
        top = 1.0 if max(curve.values) <= 1 else 100.0
        return max(top - value, 1e-3 * top) if max(curve.values) <= top else abs(value)
    return max(abs(value), 1e-12)
