"""Where things are in a chart, and the round numbers along its sides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trueline.report.plot import Scale

# The share of the height that stays free above and below the curves.
_MARGIN: Final = 0.05
_TICKS: Final = 5
_STEP_TICKS: Final = 7
_MOST_DIGITS: Final = 12
# Numbers along the bottom that span this factor or more rise by factors.
_LOG_FROM: Final = 50


@dataclass(frozen=True, slots=True)
class Frame:
    """The steps and values that a chart spans; places are shares, from the left and from the top."""

    first: int
    last: int
    scale: Scale

    def x(self, step: int) -> float:
        """The place of a step; what lies outside is put at the edge."""
        if self.last <= self.first:
            return 0.5
        return min(1.0, max(0.0, (step - self.first) / (self.last - self.first)))

    def y(self, value: float) -> float:
        """The place of a value; what lies far outside is put a little outside."""
        share = -1.0 if self.scale.log and value <= 0 else self.scale.share(value)
        return 1 - _MARGIN - (1 - 2 * _MARGIN) * min(2.0, max(-1.0, share))

    def value_ticks(self) -> Iterator[tuple[float, str]]:
        """Values worth a line, with their names."""
        low, high = self.scale.low, self.scale.high
        if self.scale.log:
            yield from _decades(low, high)
            return
        step = _round_step(high / _TICKS - low / _TICKS)
        begin = low / step if step else math.inf
        if not math.isfinite(begin) or high <= low:
            yield low, f"{low:.5g}"
            return
        digits = 1 + _magnitude(max(abs(low), abs(high))) - _magnitude(step)
        for place in range(math.ceil(begin), math.ceil(begin) + 2 * _TICKS + 1):
            value = place * step
            if value > high:
                return
            yield value, f"{value:.{min(_MOST_DIGITS, max(1, digits))}g}"

    def step_ticks(self) -> Iterator[int]:
        """Steps worth a name."""
        if self.last <= self.first:
            yield self.first
            return
        step = max(1, round(_round_step((self.last - self.first) / _STEP_TICKS)))
        yield from range(-(-self.first // step) * step, self.last + 1, step)

    def named_steps(self, numbers: Mapping[int, float]) -> Iterator[tuple[int, str]]:
        """Steps worth a name where other numbers stand for them: nearest to round ones if these rise by a factor."""
        low, high = numbers[self.first], numbers[self.last]
        if low > 0 and high / low >= _LOG_FROM:
            for value, name in _decades(low, high):
                yield min(numbers, key=lambda step: abs(math.log(numbers[step] / value))), name
            return
        yield from ((step, f"{numbers[step]:.3g}") for step in self.step_ticks() if step in numbers)


def _round_step(rough: float) -> float:
    """The next 1, 2 or 5 times a power of ten; 0 where there is none."""
    if not 0 < rough < math.inf:
        return 0.0
    power = _magnitude(rough)
    return next((step for factor in (1, 2, 5, 10) if (step := factor * _power(power)) >= rough), 0.0)


def _decades(low: float, high: float) -> Iterator[tuple[float, str]]:
    begin, end = math.ceil(math.log10(low)), math.floor(math.log10(high))
    for power in range(begin, end + 1, max(1, -(-(end - begin) // _TICKS))):
        yield _power(power), f"{_power(power):g}"


def _magnitude(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0 else 0


def _power(power: int) -> float:
    return float(f"1e{power}")
