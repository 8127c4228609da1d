"""Which way a validation curve goes: still getting better, past its best, or settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median
from typing import Final

from trueline.model.curve import Curve
from trueline.tune.logged import higher_is_better

# Of fewer evaluations no course can be told from noise.
MIN_EVALUATIONS: Final = 5
# What a change must be to count, relative to the loss, of an accuracy relative to what is missing to all.
MIN_RELATIVE_CHANGE: Final = 0.02
# Of many evaluations some neighbours are taken together: so many times fewer than there are.
_TOGETHER: Final = 6
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
    values = [-value if higher else value for value in curve.values]
    best = min(range(len(values)), key=lambda place: values[place], default=0)
    if len(values) < MIN_EVALUATIONS:
        return Course(curve, Way.TOO_FEW, best, 0.0, higher, left_out)
    together = (len(values) // _TOGETHER) | 1
    level = _means(values, together)
    # The best of many is as good by chance alone.
    chance = math.sqrt(2 * math.log(len(values))) * _chance(values) * math.sqrt(2 / together)
    # One alone may be a bump; with more, their mean counts.
    end = min(values[-_AFTER_BEST:]) if together == 1 else fmean(values[-max(together, _AFTER_BEST) :])
    worse = end - min(level)
    scale = _scale(curve, best)
    if best < len(values) - _AFTER_BEST and worse > max(MIN_RELATIVE_CHANGE * scale, chance):
        return Course(curve, Way.PAST, best, worse / scale, higher, left_out)
    last = max(len(values) // _LAST, 1)
    gained = min(level[:-last]) - min(level[-last:])
    scale = _scale(curve, min(range(len(values) - last), key=lambda place: values[place]))
    falling = gained > max(MIN_RELATIVE_CHANGE * scale, chance)
    return Course(curve, Way.FALLING if falling else Way.SETTLED, best, max(gained, 0.0) / scale, higher, left_out)


def _means(values: Sequence[float], together: int) -> list[float]:
    """Each value with its neighbours; at the ends, with those that are there."""
    reach = together // 2
    return [fmean(values[max(place - reach, 0) : place + reach + 1]) for place in range(len(values))]


def _chance(values: Sequence[float]) -> float:
    """How far chance moves one value: from third differences, in which a curve that bends smoothly has no part."""
    off = [
        abs(value - 3 * two + 3 * three - four)
        for value, two, three, four in zip(values, values[1:], values[2:], values[3:], strict=False)
    ]
    # A curve bends most at its beginning: the later half tells.
    return median(off[len(off) // 2 :]) / (0.6745 * math.sqrt(20))


def _scale(curve: Curve, place: int) -> float:
    """What a change is held against: the value, of an accuracy what is missing to 1 or to 100."""
    value = curve.values[place]
    if higher_is_better(curve.name):
        top = 1.0 if max(curve.values) <= 1 else 100.0
        return max(top - value, 1e-3 * top) if max(curve.values) <= top else abs(value)
    return max(abs(value), 1e-12)
