"""Two loss curves: where they part."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trueline.compare.noise import loss_band
from trueline.compare.verdict import Verdict
from trueline.model.curve import Curve


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which two curves are further apart than the band allows."""

    step: int
    a: float
    b: float
    band: float


@dataclass(frozen=True, slots=True)
class CurveComparison:
    """Two curves over their common steps; ``verdict`` is None where they have none."""

    a: Curve
    b: Curve
    common: int
    verdict: Verdict | None
    parts: Parting | None
    largest: float


def compare_curves(a: Curve, b: Curve, dtype: str = "float32") -> CurveComparison:
    """Compare with the benchmark ``b``; ``largest`` is the largest difference relative to its values."""
    at_b = dict(zip(b.steps, b.values, strict=True))
    common = [(step, value, at_b[step]) for step, value in zip(a.steps, a.values, strict=True) if step in at_b]
    start = next((there for _, _, there in common if math.isfinite(there)), 0.0)
    parts: Parting | None = None
    largest = 0.0
    for step, here, there in common:
        if _same(here, there):
            continue
        gap = abs(here - there) if math.isfinite(here) and math.isfinite(there) else math.inf
        largest = max(largest, gap / abs(there) if there else math.inf)
        band = loss_band(step, there, start, dtype) if math.isfinite(there) else 0.0
        if parts is None and gap > band:
            parts = Parting(step, here, there, band)
    return CurveComparison(a, b, len(common), _verdict(len(common), largest, parts), parts, largest)


def _same(here: float, there: float) -> bool:
    return here == there or (math.isnan(here) and math.isnan(there))


def _verdict(common: int, largest: float, parts: Parting | None) -> Verdict | None:
    if not common:
        return None
    if parts is not None:
        return Verdict.DIFFERS
    return Verdict.NOISE if largest else Verdict.EQUAL
