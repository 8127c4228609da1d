"""What a range test has shown: a point for each rate, put together from what its runs have told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, linear_regression
from typing import Final

from trueline.tune.logged import accuracy_of, logged_curves
from trueline.tune.lr.bounds import FEWEST, Bounds, find_bounds
from trueline.tune.told import Update
from trueline.tune.trial import Trial

LOSS: Final = "loss"
# How fast the weights' movement must rise with the rate: 1 where gradients stay, 0 where the rate has no effect.
_FOLLOWS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Point:
    """What came of one rate: the loss after the step with it, and the accuracy where the script has printed one."""

    rate: float
    loss: float
    accuracy: float | None = None


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer of the script: its class, and the largest rate of each of its groups."""

    kind: str
    rates: Sequence[float]


@dataclass(frozen=True, slots=True)
class Tested:
    """The curve with its bounds, and how it came about.

    ``metric`` is what the bounds were read from, the loss or the name of an accuracy. ``own`` is the largest rate of
    the script's own (None: it has none), ``own_first`` the one it begins with. ``losses_each`` is how many losses an
    update has. ``follows``: the weights moved the more, the higher the rate. ``shorter_than`` is how many updates were
    wished for, where the script has fewer. ``failed`` is the last line of a script that ended with an error.
    """

    points: Sequence[Point]
    bounds: Bounds
    metric: str
    low: float
    high: float
    updates: int
    own: float | None
    own_first: float
    optimizers: Sequence[Optimizer]
    losses_each: int
    runs: int
    follows: bool = True
    diverged: bool = False
    interrupted: bool = False
    shorter_than: int | None = None
    failed: str | None = None


def tested(trials: Sequence[Trial], *, accuracy: bool, shorter_than: int | None) -> Tested:
    """The mean of all runs; the script's own rate and its optimizers are those of the first."""
    first = trials[0]
    (span,) = first.of("span")
    points = _mean([_points(one) for one in trials])
    name = _accuracy_name(first) if accuracy else None
    metric, bounds = _bounds(points, name, float(span["momentum"]))
    rates = [float(one.fields["own"]) for one in first.updates if "own" in one.fields]
    return Tested(
        points,
        bounds,
        metric,
        float(span["low"]),
        float(span["high"]),
        first.experiment.updates,
        max([float(span["own"]), *rates]) or None,
        float(span["first"]),
        [Optimizer(str(one["kind"]), [float(rate) for rate in one["rates"]]) for one in first.of("rates")],
        max(int(one.fields["losses"]) for one in first.updates),
        len(trials),
        _follows(first.updates),
        any(one.stopped for one in trials),
        any(one.interrupted for one in trials),
        shorter_than,
        first.ended.last_line[:300] if first.ended_early and first.ended.code else None,
    )


def _points(trial: Trial) -> list[Point]:
    """Each rate with what the next update finds."""
    updates = trial.updates
    name = _accuracy_name(trial)
    printed = next((one for one in logged_curves(trial.words) if one.name == name), None)
    seen = dict(zip(printed.steps, printed.values, strict=True)) if printed is not None else {}
    return [
        Point(float(one.fields["rate"]), after.loss, seen.get(one.step + 1))
        for one, after in pairwise(updates)
        if after.loss is not None
    ]


def _accuracy_name(trial: Trial) -> str | None:
    found = accuracy_of(logged_curves(trial.words), FEWEST)
    return found.name if found is not None else None


def _mean(curves: Sequence[Sequence[Point]]) -> list[Point]:
    """Point by point, as far as all go."""
    found = []
    for together in zip(*curves, strict=False):
        seen = [one.accuracy for one in together if one.accuracy is not None]
        found.append(Point(together[0].rate, fmean(one.loss for one in together), fmean(seen) if seen else None))
    return found


def _bounds(points: Sequence[Point], name: str | None, momentum: float) -> tuple[str, Bounds]:
    losses = [(one.rate, one.loss) for one in points]
    by_loss = find_bounds([rate for rate, _ in losses], [loss for _, loss in losses], momentum=momentum)
    seen = [(one.rate, -one.accuracy) for one in points if one.accuracy is not None]
    if name is None or len(seen) < FEWEST:
        return LOSS, by_loss
    by_accuracy = find_bounds([rate for rate, _ in seen], [value for _, value in seen], losses, momentum, by_loss.upper)
    return (name, by_accuracy) if by_accuracy.gained or not by_loss.gained else (LOSS, by_loss)


def _follows(updates: Sequence[Update]) -> bool:
    """Whether the weights move the more, the higher the rate, in the first half, where gradients hardly change."""
    seen = [(float(one.fields["rate"]), one.fields.get("moved")) for one in updates if not one.skipped]
    known = [(rate, float(far)) for rate, far in seen if isinstance(far, float | int) and math.isfinite(far)]
    if len(known) < FEWEST:
        return True
    moved = [(math.log(rate), math.log(far)) for rate, far in known[: len(known) // 2] if far > 0]
    if len(moved) < len(known) // 8:
        # Too small for the weights' precision; or they never move.
        return any(far > 0 for _, far in known)
    return linear_regression(*zip(*moved, strict=True)).slope > _FOLLOWS
