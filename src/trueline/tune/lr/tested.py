"""What a range test has shown: a point for each rate, put together from what its runs have told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, linear_regression
from typing import Final

from trueline.tune.logged import accuracy_of, logged_curves
from trueline.tune.lr.bounds import MIN_POINTS, Bounds, find_bounds
from trueline.tune.told import Update
from trueline.tune.trial import Trial

LOSS: Final = "loss"
# How the movement per rate goes with the rate: 0 where that is all there is to it, -1 where the rate has no effect.
_FOLLOWS: Final = -0.5
_SMALL: Final = 1e-30


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
    points = _mean([_points(trial) for trial in trials])
    name = _accuracy_name(first) if accuracy else None
    before = [trial.updates[0].loss for trial in trials if trial.updates[0].loss is not None]
    metric, bounds = _bounds(points, name, float(span["momentum"]), fmean(before) if before else None)
    rates = [float(update.fields["own"]) for update in first.updates if "own" in update.fields]
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
        max(int(update.fields["losses"]) for update in first.updates),
        len(trials),
        follows(first.updates),
        any(trial.stopped for trial in trials),
        any(trial.interrupted for trial in trials),
        shorter_than,
        first.ended.last_line[:300] if first.ended_early and first.ended.code else None,
    )


def _points(trial: Trial) -> list[Point]:
    """Each rate with what the next update finds."""
    updates = trial.updates
    name = _accuracy_name(trial)
    printed = next((curve for curve in logged_curves(trial.words) if curve.name == name), None)
    seen = dict(zip(printed.steps, printed.values, strict=True)) if printed is not None else {}
    return [
        Point(float(update.fields["rate"]), after.loss, seen.get(update.step + 1))
        for update, after in pairwise(updates)
        if after.loss is not None
    ]


def _accuracy_name(trial: Trial) -> str | None:
    found = accuracy_of(logged_curves(trial.words), MIN_POINTS)
    return found.name if found is not None else None


def _mean(curves: Sequence[Sequence[Point]]) -> list[Point]:
    """Point by point, as far as all go."""
    found = []
    for together in zip(*curves, strict=False):
        seen = [one.accuracy for one in together if one.accuracy is not None]
        found.append(Point(together[0].rate, fmean(one.loss for one in together), fmean(seen) if seen else None))
    return found


def _bounds(points: Sequence[Point], name: str | None, momentum: float, before: float | None) -> tuple[str, Bounds]:
    losses = [(point.rate, point.loss) for point in points]
    by_loss = find_bounds([rate for rate, _ in losses], [loss for _, loss in losses], momentum=momentum, before=before)
    seen = [(point.rate, -point.accuracy) for point in points if point.accuracy is not None]
    if name is None or len(seen) < MIN_POINTS:
        return LOSS, by_loss
    by_accuracy = find_bounds([rate for rate, _ in seen], [value for _, value in seen], losses, momentum, by_loss.upper)
    return (name, by_accuracy) if by_accuracy.gained or not by_loss.gained else (LOSS, by_loss)


def follows(updates: Sequence[Update]) -> bool:
    """Whether the weights move the more, the higher the rate, up to where the loss is lowest.

    The movement is the rate times something that does not change much (Adam and its like), or that falls as the root of
    the loss does (gradients). Where the rate has no effect, neither is so.
    """
    seen = [
        (float(update.fields["rate"]), update.fields.get("moved"), update.loss)
        for update in updates
        if not update.skipped
    ]
    known = [(rate, float(far), loss) for rate, far, loss in seen if isinstance(far, float | int) and loss is not None]
    known = [one for one in known if math.isfinite(one[1]) and math.isfinite(one[2])]
    if len(known) < MIN_POINTS:
        return True
    lowest = min(range(len(known)), key=lambda place: known[place][2])
    moved = [one for one in known[: max(lowest, MIN_POINTS)] if one[1] > 0]
    if len(moved) < MIN_POINTS // 2:
        # Too small for the weights' precision; or they never move.
        return any(far > 0 for _, far, _ in known)
    rates = [math.log(rate) for rate, _, _ in moved]
    steady = [math.log(far / rate) for rate, far, _ in moved]
    falling = [one - math.log(max(abs(loss), _SMALL)) / 2 for one, (_, _, loss) in zip(steady, moved, strict=True)]
    return max(linear_regression(rates, one).slope for one in (steady, falling)) > _FOLLOWS
