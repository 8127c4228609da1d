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
# Accuracies come as shares or in per cent.
_PER_CENT: Final = 1.5
# From the median of deviations to their standard deviation, if they are normal.
_NORMAL: Final = 1.4826


@dataclass(frozen=True, slots=True)
class Metric:
    """Its name, and whether more of it is better."""

    name: str
    higher: bool

    @property
    def elsewhere(self) -> bool:
        """Whether it is measured on other data than those that are trained on."""
        return self.name.startswith(("val", "test"))

    def value(self, trial: Trial) -> float | None:
        """What a run has reached; None where that cannot be told."""
        curve = self.curve(trial)
        return curve.values[-1] if curve is not None else None

    def curve(self, trial: Trial) -> Curve | None:
        """Its course; the training loss as the mean of tenths of the run."""
        if self.name == TRAINING_LOSS:
            return _training_loss(trial)
        return next((curve for curve in logged_curves(trial.words) if curve.name == self.name), None)


def choose_metric(trial: Trial, wanted: str | None) -> Metric | None:
    """The one that is wanted (None: the script does not print it), else the one that says most."""
    names = [curve.name for curve in logged_curves(trial.words)]
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
    metric = Metric(name, higher_is_better(name))
    if metric.higher:
        return 0 if metric.elsewhere else 2
    return 1 if metric.elsewhere and name.endswith("loss") else None


def _training_loss(trial: Trial) -> Curve | None:
    losses = [(update.step, update.loss) for update in trial.updates if update.loss is not None]
    if not losses:
        return None
    size = max(1, math.ceil(len(losses) * _LAST))
    parts = [losses[max(0, end - size) : end] for end in range(len(losses), 0, -size)][::-1]
    return Curve(TRAINING_LOSS, [part[-1][0] for part in parts], [fmean(loss for _, loss in part) for part in parts])


@dataclass(frozen=True, slots=True)
class Margin:
    """How much worse still counts as equal, and from what that is known.

    ``why`` is ``repeats``, ``course`` (of the baseline), ``samples`` (of its evaluation) or ``usual``.
    """

    width: float
    why: str


def margin_of(
    metric: Metric, repeats: Sequence[float], course: Curve | None = None, evaluated: int | None = None
) -> Margin:
    """Twice how far the baseline itself strays, and never less than what is usual."""
    baseline = repeats[0]
    whole = 100.0 if metric.higher and max(repeats) > _PER_CENT else 1.0
    margins = [Margin(_POINT * whole if metric.higher else _SHARE * abs(baseline), "usual")]
    if len(repeats) > 1:
        margins.append(Margin(2 * stdev(repeats), "repeats"))
    else:
        margins.append(Margin(2 * _straying(course), "course"))
        if metric.higher and metric.elsewhere and evaluated:
            share = min(max(baseline / whole, 0.0), 1.0)
            margins.append(Margin(2 * whole * math.sqrt(share * (1 - share) / evaluated), "samples"))
    return max(margins, key=lambda margin: margin.width)


def _straying(course: Curve | None) -> float:
    """The standard deviation of the late half of a curve; 0 where there are too few points to say."""
    late = list(course.values[len(course) // 2 :]) if course is not None else []
    if len(late) < _LATE or not all(map(math.isfinite, late)):
        return 0.0
    # What rises or falls steadily does not stray for that: it has no second differences.
    second = [abs(one - 2 * two + three) for one, two, three in zip(late, late[1:], late[2:], strict=False)]
    return _NORMAL * median(second) / math.sqrt(6)
