"""From a curve over rising learning rates to its bounds: where it starts to get better, and where it stops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Of fewer losses no bound can be told from noise.
MIN_POINTS: Final = 12
# The width of the smoothing, as a share of the curve.
_WIDTH: Final = 0.025
# The curve has started to get better where this share of all it will gain is there. By then the test has gone as far as
# about nine steps at that rate go; as many steps at it as the test takes in all go ten times as far.
_STARTED: Final = 0.25
# It has stopped where it has lost this share again for good: momentum makes it swing before that.
_STOPPED: Final = 0.5
# It has diverged where it is this share of the gain above its beginning; above twice that nothing is told apart.
_DIVERGED: Final = 0.5
_HIGHEST: Final = 1.0
# What is seen is what was done before, by half of what momentum remembers, but no more than this share of the curve.
_LONGEST_MEMORY: Final = 0.1
# A gain counts when it is so many times what chance makes of the smoothed curve, and this share of where it began.
_ABOVE_CHANCE: Final = 4.0
_LEAST_GAIN: Final = 0.005
# A loss that has grown by this much in a few steps shows how fast it grows.
_GROWN: Final = 1.2
_WINDOW: Final = 2
# The rate at which a loss neither grows nor falls is too large already.
_BELOW: Final = 0.8


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a curve shows; rates that it does not show are None.

    ``start`` and ``best`` are the values at its beginning and at its best, ``smoothed`` is the curve without chance, as
    far as it is finite.
    """

    lower: float | None
    upper: float | None
    suggestion: float | None
    steepest: float | None
    start: float
    best: float
    smoothed: Sequence[float]

    @property
    def gained(self) -> bool:
        """Whether it got better at all."""
        return self.steepest is not None


def find_bounds(
    rates: Sequence[float],
    values: Sequence[float],
    losses: Sequence[tuple[float, float]] | None = None,
    momentum: float = 0.0,
    most: float | None = None,
    before: float | None = None,
) -> Bounds:
    """The bounds of a value that is the better the lower it is, after a step at each of rising rates.

    ``losses`` (rate and loss), where the value is another one, show how fast the training grows out of bounds;
    ``momentum`` is how much of a step goes on in the next one; ``most`` is an upper bound that is known already;
    ``before`` is the value before any step.
    """
    whole = _finite(values)
    if len(whole) < MIN_POINTS:
        return Bounds(None, None, None, None, math.nan, math.nan, [])
    start = _start(whole, before)
    smoothed = smooth(whole, start)
    low = int(np.argmin(smoothed))
    best = float(smoothed[low])
    gain = start - best
    if gain < max(_ABOVE_CHANCE * _chance(whole), _LEAST_GAIN * abs(start)):
        return Bounds(None, None, None, None, start, best, smoothed.tolist())
    first = next(place for place in range(low + 1) if smoothed[place] <= start - _STARTED * gain)
    lower = float(rates[first]) if first > 0 else None
    steepest = float(rates[_steepest(rates, smoothed, first, low)])
    shown = losses if losses is not None else list(zip(rates, values, strict=True))
    last = _last_good(smoothed, low, start)
    upper = most
    if last < len(smoothed) - 1 or len(whole) < len(values):
        memory = min(_half_life(momentum), math.ceil(_LONGEST_MEMORY * len(values)))
        limit = _grows_above([one for one in shown if one[0] >= rates[last]])
        upper = min(one for one in (float(rates[max(last - memory, first)]), limit, most) if one is not None)
    if lower is not None and upper is not None and lower >= upper:
        # So few rates lie between the two that the curve does not tell them apart.
        lower = None
    return Bounds(lower, upper, _suggest(lower, steepest, upper), steepest, start, best, smoothed.tolist())


def _finite(values: Sequence[float]) -> Array:
    """The values before the first that is not finite."""
    found = np.asarray(values, np.float64)
    bad = np.flatnonzero(~np.isfinite(found))
    return found[: bad[0]] if len(bad) else found


def _start(values: Array, before: float | None) -> float:
    """Where the curve begins: its first part, unless it has fallen from where it was before."""
    first = values[: max(len(values) // 10, 3)]
    found = float(np.median(first))
    fallen = before is not None and math.isfinite(before) and before > max(float(first.max()), found + _noise(values))
    return before if fallen and before is not None else found


def smooth(values: Array, start: float) -> Array:
    """Each value with its neighbours on both sides: nothing is shifted to the right, as a running mean would.

    What is far above the beginning counts as if it were not, and losses are averaged by their factors: neither a leap
    nor a fast growth is seen before it is there.
    """
    most = start + _HIGHEST * max(start - float(values.min()), 0.0)
    calm = np.array([np.median(values[max(place - 1, 0) : place + 2]) for place in range(len(values))])
    calm = np.minimum(calm, most)
    by_factors = bool((calm > 0).all())
    width = max(len(values) * _WIDTH, 1.0)
    reach = math.ceil(3 * width)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    # At the ends only those that are there count.
    held = np.convolve(np.ones(len(values)), kernel, "full")[reach : reach + len(values)]
    found: Array = np.convolve(np.log(calm) if by_factors else calm, kernel, "full")[reach : reach + len(values)] / held
    return np.asarray(np.exp(found)) if by_factors else found


def _noise(values: Array) -> float:
    """How far chance moves one value, from differences of neighbours in the part where little is learned."""
    early = values[: max(len(values) // 3, MIN_POINTS // 2)]
    return float(np.median(np.abs(np.diff(early)))) / (0.6745 * math.sqrt(2))


def _chance(values: Array) -> float:
    """How far chance moves the smoothed curve."""
    return _noise(values) / math.sqrt(2 * math.sqrt(math.pi) * max(len(values) * _WIDTH, 1.0))


def _last_good(smoothed: Array, low: int, start: float) -> int:
    """The last place before divergence at which the curve is nearly at its best."""
    gain = start - smoothed[low]
    last = low
    for place in range(low, len(smoothed)):
        if smoothed[place] > start + _DIVERGED * gain:
            break
        if smoothed[place] <= smoothed[low] + _STOPPED * gain:
            last = place
    return last


def _half_life(momentum: float) -> int:
    """The steps after which half of a step is forgotten, 7 for 0.9; at least one."""
    return max(round(math.log(0.5) / math.log(min(momentum, 0.999))), 1) if momentum > 0 else 1


def _steepest(rates: Sequence[float], smoothed: Array, first: int, low: int) -> int:
    """Where the curve falls fastest per factor of the rate."""
    slopes = np.gradient(smoothed, np.log(np.asarray(rates[: len(smoothed)], np.float64)))
    begin = max(first - 1, 0)
    return begin + int(np.argmin(slopes[begin : max(low, begin + 1)]))


def _grows_above(losses: Sequence[tuple[float, float]]) -> float | None:
    """The rate above which the loss grows, from how fast it does where that shows.

    Along a direction of curvature c a step of gradient descent multiplies the error by 1 - rate * c. When the loss is
    seen to grow by g * g, the rate is far above what was still fine, 2 / c = 2 * rate / (1 + g): by then the error has
    grown from next to nothing.
    """
    found = []
    for place in range(len(losses) - _WINDOW):
        seen = losses[place : place + _WINDOW + 1]
        (_, before), (_, between), (_, after) = seen
        if not (math.isfinite(before) and math.isfinite(after)) or before <= 0:
            break
        if after > _GROWN**_WINDOW * before and between > before:
            growth = (after / before) ** (0.5 / _WINDOW)
            # The loss after the next rate is what that rate has made of the loss before.
            rate = math.sqrt(seen[1][0] * seen[2][0])
            found.append(2 * rate / (1 + growth))
    return _BELOW * min(found) if found else None


def _suggest(lower: float | None, steepest: float, upper: float | None) -> float:
    """Halfway, in factors, from where the curve falls fastest to the upper bound, and well below that."""
    if upper is None:
        return steepest
    found = min(math.sqrt(steepest * upper), upper / 2)
    return max(found, lower) if lower is not None and lower < upper else found
