"""What the runs of a ladder are judged by: an accuracy that the script prints, else a loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Final

from trueline.model.curve import Curve
from trueline.tune.logged import higher_is_better, logged_curves
from trueline.tune.trial import Trial

TRAINING_LOSS: Final = "training loss"
# Less than that is no loss of accuracy that anyone would act on.
_POINT: Final = 0.01
_SHARE: Final = 0.05
_LAST: Final = 0.1
_LATE: Final = 5
# From the median of deviations to their standard deviation, if they are normal.
_NORMAL: Final = 1.4826


@dataclass(frozen=True, slots=True)
class Metric:
    """Its name, and whether more of it is better."""

    name: str
    higher: bool

    def value(self, trial: Trial) -> float | None:
        """What a run has reached; None where that cannot be told."""
        curve = self.curve(trial)
        return curve.values[-1] if curve is not None else None

    def curve(self, trial: Trial) -> Curve | None:
        """Its course; the training loss as the mean of tenths of the run."""
        if self.name == TRAINING_LOSS:
            return _training_loss(trial)
        return next((one for one in logged_curves(trial.words) if one.name == self.name), None)


def choose_metric(trial: Trial, wanted: str | None) -> Metric | None:
    """The one that is wanted (None: the script does not print it), else the one that says most."""
    names = [one.name for one in logged_curves(trial.words)]
    if wanted is not None:
        if wanted in (TRAINING_LOSS, "loss"):
            return Metric(TRAINING_LOSS, higher=False)
        return Metric(wanted, higher_is_better(wanted)) if wanted in names else None
    ranked = sorted((rank, place) for place, name in enumerate(names) if (rank := _rank(name)) is not None)
    if not ranked:
        return Metric(TRAINING_LOSS, higher=False)
    name = names[ranked[0][1]]
    return Metric(name, higher_is_better(name))


def _rank(name: str) -> int | None:
    """Accuracy on other data, loss on other data, accuracy on the same; what else is printed is not asked."""
    elsewhere = name.startswith(("val", "test"))
    if higher_is_better(name):
        return 0 if elsewhere else 2
    return 1 if elsewhere and name.endswith("loss") else None


def _training_loss(trial: Trial) -> Curve | None:
    losses = [(one.step, one.loss) for one in trial.updates if one.loss is not None]
    if not losses:
        return None
    size = max(1, math.ceil(len(losses) * _LAST))
    parts = [losses[max(0, end - size) : end] for end in range(len(losses), 0, -size)][::-1]
    return Curve(TRAINING_LOSS, [part[-1][0] for part in parts], [fmean(loss for _, loss in part) for part in parts])


@dataclass(frozen=True, slots=True)
class Margin:
    """How much worse still counts as equal, and from what that is known: ``repeats``, ``course`` or ``usual``."""

    width: float
    why: str


def margin_of(metric: Metric, baseline: float, repeats: Sequence[float], course: Curve | None) -> Margin:
    """Twice how far the baseline itself strays, and never less than what is usual."""
    usual = _SHARE * abs(baseline)
    if metric.higher:
        # Accuracies come as shares or in per cent.
        usual = _POINT * (100 if max([baseline, *repeats]) > 1.5 else 1)
    if len(repeats) > 1:
        return _wider(2 * stdev(repeats), usual, "repeats")
    late = list(course.values[-max(_LATE, len(course) // 3) :]) if course is not None else []
    if len(late) < _LATE or not all(map(math.isfinite, late)):
        return Margin(usual, "usual")
    # What rises or falls steadily does not stray for that: it has no second differences.
    second = [abs(one - 2 * two + three) for one, two, three in zip(late, late[1:], late[2:], strict=False)]
    return _wider(2 * _NORMAL * median(second) / math.sqrt(6), usual, "course")


def _wider(measured: float, usual: float, why: str) -> Margin:
    return Margin(measured, why) if measured > usual else Margin(usual, "usual")
