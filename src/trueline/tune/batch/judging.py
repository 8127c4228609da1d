"""Whether a script's batch size costs accuracy, and how large it could be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from trueline.tune.batch.ladder import Climbed, Rung
from trueline.tune.batch.metric import Margin, margin_of


class Verdict(StrEnum):
    """How it is."""

    LARGE = "large"
    FINE = "fine"
    SMALLEST = "smallest"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on ``asked``, the rung of the script's own size; ``best`` is suggested.

    ``lost`` is by how much the metric is worse than the baseline's, rung by rung.
    """

    verdict: Verdict
    asked: Rung | None
    best: Rung | None
    margin: Margin | None
    lost: Sequence[float | None]


def judge(found: Climbed) -> Judged:
    """What is to be said of a ladder."""
    baseline = found.rungs[0] if found.rungs else None
    if (
        baseline is None
        or baseline.value is None
        or not math.isfinite(baseline.value)
        or found.metric is None
        or found.baseline is None
    ):
        return Judged(Verdict.UNKNOWN, None, None, None, [None] * len(found.rungs))
    course = found.metric.curve(found.baseline)
    evaluated = max((int(one["samples"]) for one in found.baseline.of("evaluates")), default=None)
    margin = margin_of(found.metric, baseline.values, course, evaluated)
    sign = 1.0 if found.metric.higher else -1.0
    lost = [_lost(sign, baseline.value, rung.value) for rung in found.rungs]
    within = [rung for rung, less in zip(found.rungs, lost, strict=True) if less is not None and less <= margin.width]
    best = max(within, key=lambda rung: rung.size)
    asked = next((rung for rung in found.rungs if rung.size == found.probed.size), found.rungs[-1])
    less = lost[list(found.rungs).index(asked)]
    if len(found.rungs) < 2 or less is None:
        verdict = Verdict.UNKNOWN
    elif asked is baseline:
        verdict = Verdict.SMALLEST
    else:
        verdict = Verdict.LARGE if less > margin.width else Verdict.FINE
    return Judged(verdict, asked, best, margin, lost)


def _lost(sign: float, baseline: float, value: float | None) -> float | None:
    if value is None:
        return None
    # A training that ends in no number has lost everything.
    return sign * (baseline - value) if math.isfinite(value) else math.inf
