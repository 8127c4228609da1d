"""What a run shows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Final

from trueline.checks.engine.check import Params, check, found, suspect, undecided
from trueline.checks.evidence.looks import optimizer_where
from trueline.checks.evidence.rates import Optimized, in_turn
from trueline.checks.evidence.streams import Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Certainty, Finding
from trueline.model.json_value import Json
from trueline.tune.lr.divergence import Divergence

MIN_LOSSES: Final = 4  # fewer have no course
# Of fewer steps in a half, one batch's loss differs from another's by chance alone.
MIN_HALF: Final = 5
# The rate has been raised by so much: a warm-up.
MIN_WARM_UP: Final = 1.5
# A warm-up takes no more than this part of a training: beyond, there is more of it to come.
MAX_WARM_UP_SHARE: Final = 0.7
MAX_FLAT: Final = 0.01  # relative change of a loss that does not learn
# An update of so many times the largest that is sound leaves nothing of the weights.
MIN_RUINOUS: Final = 10


@check("hp.01", "the learning rate is too high or too low", decides=False)
def from_run(run: Run, *, max_update: float = 0.3, min_moved: float = 1e-4) -> Iterator[Finding]:
    """The course of the loss, and how far updates go."""
    turns = in_turn(run)
    if not turns:
        yield undecided("hp_01.no_updates")
        return
    losses = run.rank(run.ranks[0]).curve("loss")
    curve = list(zip(losses.steps, losses.values, strict=True))
    reported: set[tuple[str | None, int | None]] = set()
    fine: Finding | None = None
    for place, steps in enumerate(turns):
        # The losses of an optimizer's own turn: the last one's go on to the end of the run.
        end = turns[place + 1].updates[0].step if place + 1 < len(turns) else math.inf
        own = [(at, value) for at, value in curve if steps.updates[0].step <= at < end or len(turns) == 1]
        if len(own) < MIN_LOSSES:
            continue
        at, values = [one for one, _ in own], [one for _, one in own]
        high = _too_high(run, steps, at, values, max_update)
        low = _too_low(run, steps, at, values, min_moved) if high is None else None
        problem = high or low
        if problem is None:
            # A loss that falls at this rate may fall faster, or further, at another.
            fine = fine or undecided("hp_01.fine", **_seen(steps, values))
        elif (problem.where.file, problem.where.line) not in reported:
            reported.add((problem.where.file, problem.where.line))
            yield problem
    if not reported:
        yield fine or undecided("hp_01.too_short", count=len(curve))


def _seen(steps: Optimized, values: Sequence[float]) -> Params:
    ratio = _ratio(steps)
    return {
        "measured": ratio,
        "evidence": [{"first": values[0], "last": values[-1], "lr": steps.rates[0], "update": ratio}],
        "lr": steps.rates[0],
        "steps": len(values),
    }


def _ratio(steps: Optimized) -> float | None:
    """The update of a usual early step, relative to the weights."""
    known = [update.ratio for update in steps.updates[:10] if update.ratio is not None and math.isfinite(update.ratio)]
    return median(known) if known else None


def _too_high(
    run: Run, steps: Optimized, at: Sequence[int], values: Sequence[float], max_update: float
) -> Finding | None:
    broken = next((place for place, value in enumerate(values) if not math.isfinite(value)), None)
    finite = values[:broken]
    if not finite:
        return None
    start = median(finite[:3])
    tail = median(finite[-max(len(finite) // 5, 1) :])
    ratio = _ratio(steps)
    params: Params = {"lr": max(steps.rates), "first": start, "last": tail}
    evidence: list[Json] = [{"first": start, "last": tail, "lr": max(steps.rates), "update": ratio}]
    if broken is not None:
        # A number that is not finite has many causes: the rate is one where the loss has run away before, or where by
        # the rate alone, whatever the gradients were, the first update was many times the weights.
        ran_away = max(finite) > 10 * max(abs(start), 1e-12) and finite[-1] > start
        if ran_away or (steps.adaptive and ratio is not None and ratio > MIN_RUINOUS * max_update):
            where = optimizer_where(run, steps.number, at[broken])
            return found("hp_01.to_infinity", where, certainty=Certainty.LIKELY, evidence=evidence, **params)
        return None
    if _diverges(values) and tail > start:
        where = optimizer_where(run, steps.number, at[max(range(len(values)), key=values.__getitem__)])
        return found("hp_01.diverges", where, certainty=Certainty.LIKELY, evidence=evidence, **params)
    half = len(values) // 2
    # The first loss is before any update; those that follow may have jumped already.
    stays = half >= MIN_HALF and fmean(values[half:]) > min(0.9 * start, 2 * values[0]) > 0
    if ratio is not None and ratio > max_update and stays:
        params |= {"update": f"{ratio:.3g}", "measured": ratio, "limit": max_update}
        where = optimizer_where(run, steps.number, at[0])
        return found("hp_01.large_updates", where, certainty=Certainty.LIKELY, evidence=evidence, **params)
    return None


def _diverges(values: Sequence[float]) -> bool:
    """As an experiment would end it; in a few steps, where all that follow are many times the first."""
    divergence = Divergence()
    shown = [divergence.shows(value) for value in values]
    if any(shown):
        return True
    return len(values) >= MIN_LOSSES and min(values[2:]) > 10 * max(abs(values[0]), 1e-12)


def _too_low(
    run: Run, steps: Optimized, at: Sequence[int], values: Sequence[float], min_moved: float
) -> Finding | None:
    moved = steps.moved
    rates = steps.rates
    # No way at all is no matter of the rate: the gradients are zero.
    if moved is None or not 0 < moved < min_moved or not all(math.isfinite(value) for value in values):
        return None
    # One that is still being raised may have been meant to get where it moves something.
    reached = next(place for place, rate in enumerate(rates) if rate >= (1 - 1e-6) * max(rates))
    if max(rates) > MIN_WARM_UP * rates[0] and reached > MAX_WARM_UP_SHARE * len(rates):
        return None
    # The same samples in the first pass and in the last: what one batch differs from another does not count.
    passes = max((_passes(stream, at[0], at[-1]) for stream in training(run)), default=0)
    part = max(len(values) // max(passes, 2), 1)
    first, last = fmean(values[:part]), fmean(values[-part:])
    params: Params = {"lr": max(rates), "moved": f"{moved:.2g}", "first": first, "last": last}
    seen: Params = {
        "measured": moved,
        "limit": min_moved,
        "evidence": [{"first": first, "last": last, "updates": len(rates)}],
    }
    where = optimizer_where(run, steps.number)
    if passes >= 2 and abs(first - last) < MAX_FLAT * max(abs(first), 1e-12):
        return found("hp_01.too_low", where, certainty=Certainty.LIKELY, **seen, **params)
    return suspect("hp_01.too_low", where, **seen, **params)


def _passes(stream: Stream, first: int, last: int) -> int:
    """How many passes over a loader began in these steps."""
    return sum(first <= batches[0].step <= last for batches in stream.iterations())
