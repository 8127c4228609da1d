"""What a run shows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trueline.checks.engine.check import check, undecided
from trueline.checks.evidence.rates import in_turn
from trueline.formats.run_folder.evaluations import evaluation_curves, evaluations_seen
from trueline.formats.run_folder.reader import Run
from trueline.model.curve import Curve
from trueline.model.finding import Conclusion, Finding
from trueline.tune.epochs.course import course_of
from trueline.tune.epochs.curves import Evaluated
from trueline.tune.epochs.report import Judged, finding


@check("hp.02", "too many or too few epochs")
def from_run(run: Run) -> Iterator[Finding]:
    """As ``trueline tune epochs`` judges it."""
    if not run.ranks:
        yield undecided("hp_02.no_evaluation")
        return
    folder = run.rank(run.ranks[0])
    curves = evaluation_curves(folder)
    if not curves:
        yield undecided("hp_02.no_losses" if evaluations_seen(folder) else "hp_02.no_evaluation")
        return
    answers = [finding(_judged(run, part)) for part in _in_turns(run, curves)]
    problems = [one for one in answers if one.conclusion is Conclusion.FOUND]
    decided = [one for one in answers if one.conclusion is not Conclusion.OPEN]
    yield from problems or (decided or answers)[:1]


def _judged(run: Run, curves: Sequence[Curve]) -> Judged:
    courses = [course_of(one) for one in curves]
    return Judged(str(run.path), Evaluated(curves, by_steps=True), courses[0], courses[1:])


def _in_turns(run: Run, curves: Sequence[Curve]) -> Iterator[Sequence[Curve]]:
    """The curves of each training, where one optimizer was done before the next began: each has its own network."""
    begins = [one.updates[0].step for one in in_turn(run)]
    if len(begins) < 2:
        yield curves
        return
    for first, end in pairwise([*begins, math.inf]):
        parts = [_between(one, first, end) for one in curves]
        if known := sorted((one for one in parts if len(one)), key=len, reverse=True):
            yield known


def _between(curve: Curve, first: float, end: float) -> Curve:
    """The evaluations after the training step ``first`` and up to ``end``."""
    kept = [(step, value) for step, value in zip(curve.steps, curve.values, strict=True) if first < step <= end]
    return Curve(curve.name, [step for step, _ in kept], [value for _, value in kept])
