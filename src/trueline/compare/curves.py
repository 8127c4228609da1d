"""Two loss curves: where they part, suddenly or by drifting, and whether both go wrong together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Final

from trueline.compare.floors import Basis, Floors
from trueline.compare.noise import growth, loss_band, widest_band
from trueline.compare.verdict import Verdict
from trueline.model.curve import Curve
from trueline.model.report import Band

# A gap that grows this much within one step is a fork, not noise that has grown too large.
_SUDDEN: Final = 30.0
# Within the band a jump counts only if it is one against many steps before it, and by this share of the loss.
_BEYOND_REASON: Final = 0.5
_ENOUGH_BEFORE: Final = 5
_BEFORE: Final = 20
_LEAP: Final = 300.0
_JUMP: Final = 0.02
# So many steps on one side, nearly all of them, and on average by this share of the loss, is no noise.
_ENOUGH_ONE_SIDED: Final = 20
_ONE_SIDE: Final = 0.95
_OFFSET: Final = 0.03
_SMALLEST_SCALE: Final = 0.01
_ENOUGH_FOR_RATE: Final = 4
_ENOUGH_FOR_HEALTH: Final = 20
# A loss whose last third lies below its first by less than this share, or than chance explains, is not learning.
_FALLS: Final = 0.02
_CHANCES: Final = 2.0


class Shape(StrEnum):
    """How two curves lie to each other."""

    EQUAL = "equal"
    NOISE = "noise"
    DRIFT = "drift"
    FORK = "fork"


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which two curves are further apart than the band allows; values are means ``over`` steps."""

    step: int
    a: float
    b: float
    band: float
    over: int = 1


@dataclass(frozen=True, slots=True)
class CurveComparison:
    """Two curves over their common steps; ``verdict`` is None where they have none.

    ``largest`` is the largest difference relative to the benchmark's values, ``decade`` in how many steps the gap grows
    tenfold (None where it does not grow), ``means`` both sides' mean over the common steps where all are finite.
    """

    a: Curve
    b: Curve
    common: Sequence[tuple[int, float, float]]
    verdict: Verdict | None
    parts: Parting | None
    largest: float
    band: Band
    basis: Basis
    shape: Shape | None = None
    decade: float | None = None
    means: tuple[float, float] | None = None
    shared_trouble: str | None = None

    @property
    def first(self) -> tuple[int, float, float] | None:
        """The first common step and both values."""
        return self.common[0] if self.common else None


@dataclass(slots=True)
class _Walk:
    """What a pass over the common steps gathers."""

    parts: Parting | None = None
    largest: float = 0.0
    basis: Basis = Basis.ESTIMATED
    gaps: list[tuple[int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)


def compare_curves(
    a: Curve, b: Curve, floors: Floors | None = None, dtype: str = "float32", rounded: float = 0.0
) -> CurveComparison:
    """Compare with the benchmark ``b``; ``rounded`` is how much writing the values down has changed them."""
    at_b = dict(zip(b.steps, b.values, strict=True))
    common = [(step, value, at_b[step]) for step, value in zip(a.steps, a.values, strict=True) if step in at_b]
    walk = _walk(common, floors or Floors(), dtype, rounded)
    verdict = _verdict(len(common), walk)
    decade = _decade([gap for gap in walk.gaps if walk.parts is None or gap[0] <= walk.parts.step])
    return CurveComparison(
        a,
        b,
        common,
        verdict,
        walk.parts,
        walk.largest,
        Band([step for step, _, _ in common], walk.low, walk.high),
        walk.basis,
        _shape(verdict, walk),
        decade,
        _means(common),
        _shared_trouble(common) if verdict in (Verdict.EQUAL, Verdict.NOISE) else None,
    )


def _walk(common: Sequence[tuple[int, float, float]], floors: Floors, dtype: str, rounded: float) -> _Walk:
    walk = _Walk()
    start = next((there for _, _, there in common if math.isfinite(there)), 0.0)
    begin = equal = common[0][0] if common else 0
    for step, here, there in common:
        band = 0.0
        if math.isfinite(there):
            # What counts is how many steps both have taken, not the number a log gives the first.
            band, walk.basis = floors.loss(step - begin, there, start, dtype)
            if walk.basis is not Basis.GIVEN:
                # Noise cannot have grown before there was any: what equal values may hide is all there was.
                least = loss_band(0, there, start, dtype) + rounded
                band = min(band, least * growth(step - equal))
                # Nor does it leap: an element that takes another branch makes it a few hundred times what it was.
                recent = max((gap for _, gap in walk.gaps[-_BEFORE:]), default=math.inf)
                band = min(band, _LEAP * max(least, recent))
        # A hair more than half a unit of both: the halves themselves are not exact.
        band += 1.001 * rounded
        walk.low.append(there - band)
        walk.high.append(there + band)
        if _same(here, there):
            walk.gaps.append((step, 0.0))
            # Only from the beginning on: later two values may meet by chance.
            equal = equal if walk.largest else step
            continue
        gap = abs(here - there) if math.isfinite(here) and math.isfinite(there) else math.inf
        walk.gaps.append((step, gap))
        scale = max(abs(there), _SMALLEST_SCALE * abs(start)) if math.isfinite(there) else 0.0
        walk.largest = max(walk.largest, gap / scale if scale else math.inf)
        # Once noise has grown as far as it goes, single steps tell nothing: a loss beyond all reason still does.
        full = walk.basis is Basis.ESTIMATED and band >= widest_band(there, start)
        if walk.parts is None and gap > (max(band, _BEYOND_REASON * abs(start)) if full else band):
            walk.parts = Parting(step, here, there, band)
    if not floors.given:
        found = [walk.parts, _jump(common, walk), _one_sided(common, start) if walk.parts is None else None]
        walk.parts = min(
            (parting for parting in found if parting is not None), key=lambda parting: parting.step, default=None
        )
    return walk


def _jump(common: Sequence[tuple[int, float, float]], walk: _Walk) -> Parting | None:
    """A gap that is suddenly far beyond all before it, wide as the band may be by then."""
    for place in range(_ENOUGH_BEFORE, len(common)):
        step, here, there = common[place]
        before = max(gap for _, gap in walk.gaps[max(0, place - _BEFORE) : place])
        gap = walk.gaps[place][1]
        if gap > _SUDDEN * before and gap > _JUMP * abs(there):
            return Parting(step, here, there, _SUDDEN * before)
    return None


def _one_sided(common: Sequence[tuple[int, float, float]], start: float) -> Parting | None:
    """Noise goes to both sides: a curve that stays on one side of the other, on average by more, is another curve."""
    count = max(_ENOUGH_ONE_SIDED, len(common) // 10)
    if len(common) < count:
        return None
    gaps = [here - there for _, here, there in common]
    total, level = sum(gaps[:count]), sum(b for _, _, b in common[:count])
    above, below = sum(gap > 0 for gap in gaps[:count]), sum(gap < 0 for gap in gaps[:count])
    for place in range(len(common) - count + 1):
        if place:
            total += gaps[place + count - 1] - gaps[place - 1]
            above += (gaps[place + count - 1] > 0) - (gaps[place - 1] > 0)
            below += (gaps[place + count - 1] < 0) - (gaps[place - 1] < 0)
            level += common[place + count - 1][2] - common[place - 1][2]
        scale = max(abs(level) / count, _SMALLEST_SCALE * abs(start))
        sided = (above if total > 0 else below) >= _ONE_SIDE * count
        if sided and abs(total) / count > _OFFSET * scale:
            means = ((level + total) / count, level / count)
            return Parting(common[place][0], *means, _OFFSET * scale, count)
    return None


def _same(here: float, there: float) -> bool:
    return here == there or (math.isnan(here) and math.isnan(there))


def _verdict(common: int, walk: _Walk) -> Verdict | None:
    if not common:
        return None
    if walk.parts is not None:
        return Verdict.DIFFERS
    return Verdict.NOISE if walk.largest else Verdict.EQUAL


def _shape(verdict: Verdict | None, walk: _Walk) -> Shape | None:
    if verdict is None:
        return None
    if walk.parts is None:
        return Shape.EQUAL if verdict is Verdict.EQUAL else Shape.NOISE
    place = next(place for place, (step, _) in enumerate(walk.gaps) if step == walk.parts.step)
    before = max((gap for _, gap in walk.gaps[max(0, place - 5) : place]), default=0.0)
    if walk.parts.over > 1:
        return Shape.DRIFT
    if not place or walk.gaps[place][1] > _SUDDEN * max(before, walk.parts.band / _SUDDEN):
        return Shape.FORK
    return Shape.DRIFT


def _decade(gaps: Sequence[tuple[int, float]]) -> float | None:
    """In how many steps the gap grows tenfold: a straight line through its logarithm."""
    points = [(float(step), math.log10(gap)) for step, gap in gaps if gap > 0 and math.isfinite(gap)]
    if len(points) < _ENOUGH_FOR_RATE:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    # A tenfold growth beyond the curve's own length tells nothing.
    length = points[-1][0] - points[0][0]
    return 1.0 / slope if slope > 0 and 1.0 / slope <= 2 * length else None


def _means(common: Sequence[tuple[int, float, float]]) -> tuple[float, float] | None:
    if not common or not all(math.isfinite(here) and math.isfinite(there) for _, here, there in common):
        return None
    return sum(here for _, here, _ in common) / len(common), sum(there for _, _, there in common) / len(common)


def _shared_trouble(common: Sequence[tuple[int, float, float]]) -> str | None:
    """What is wrong with two curves that agree: they end in NaN or Inf, or do not fall."""
    values = [there for _, _, there in common]
    if any(not math.isfinite(value) for value in values):
        return "non_finite"
    if len(values) < _ENOUGH_FOR_HEALTH:
        return None
    part = len(values) // 3
    start, end = sum(values[:part]) / part, sum(values[-part:]) / part
    # What neighbouring steps differ by is the batches' doing: a mean over many of them moves by that much less.
    jumps = [abs(after - before) for before, after in pairwise(values)]
    chance = sum(jumps) / len(jumps) / math.sqrt(part)
    return "flat" if start - end < max(_FALLS * abs(start), _CHANCES * chance) else None
