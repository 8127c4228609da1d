"""What a run shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.numbers import decode
from trueline.model.run import EventName

_EQUAL = 1e-4


@dataclass(slots=True)
class _Update:
    """What led to one update: each backward's loss, the loss function's own value and the norm it gave."""

    backwards: int = 0
    batches: int = 0
    ratios: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    clipped: bool = False
    scale: float = 1.0
    loss: dict[str, Any] | None = None
    step: dict[str, Any] = field(default_factory=dict)


@check("tr.03", "accumulated gradients are not averaged")
def from_run(run: Run, *, min_updates: int = 2) -> Iterator[Finding]:
    """Losses of the batches of an update, against what the loss function gave."""
    rank = trained_rank(run)
    updates = _updates(rank) if rank is not None else []
    several = [one for one in updates if one.backwards > 1 and one.batches >= one.backwards]
    if len(several) < min_updates or len(several) * 2 < len(updates) or _optimizers(rank) > 1:
        if not updates:
            yield undecided("tr_03.no_updates")
        else:
            # Where several optimizers take turns, several backwards may be of one batch.
            yield (undecided if several else na)("tr_03.not_accumulated")
        return
    count = Counter(one.backwards for one in several).most_common(1)[0][0]
    own = [one for one in several if one.backwards == count]
    ratios = [ratio for one in own for ratio in one.ratios]
    evidence = [{"step": one.step["step"], "backwards": one.backwards, "ratios": one.ratios} for one in own[:6]]
    place = where(own[0].loss or own[0].step)
    if not ratios:
        yield undecided("tr_03.own_loss", count=count)
    elif all(abs(ratio * count - 1) < _EQUAL for ratio in ratios):
        yield none("tr_03.divided", evidence=evidence, measured=ratios[0], limit=1 / count, count=count)
    elif all(abs(ratio - 1) < _EQUAL for ratio in ratios):
        kept = [_summed(one) for one in own]
        if any(one is False for one in kept):
            yield none("tr_03.divided_later", evidence=evidence, count=count)
        elif all(one is None for one in kept) or any(one.clipped for one in own):
            yield suspect("tr_03.summed", place, evidence=evidence, count=count)
        else:
            yield found("tr_03.summed", place, measured=ratios[0], limit=1 / count, evidence=evidence, count=count)
    else:
        yield suspect("tr_03.unclear", place, evidence=evidence, count=count)


def _optimizers(rank: RankFolder | None) -> int:
    """Optimizers that take turns have a backward pass each."""
    return len({one["optimizer"] for one in rank.events(EventName.STEP, phase=TRAIN)}) if rank is not None else 0


def _summed(one: _Update) -> bool | None:
    """Whether the update used the sum: True for sure, False where it was divided, None where nobody knows.

    A mean is never longer than the mean of the lengths, whatever the directions.
    """
    factor = one.step.get("factor")
    if factor is not None:
        return bool(abs(factor * one.scale - 1) < 1e-2)
    norm = one.step.get("grad_norm")
    if norm is None or len(one.norms) != one.backwards:
        return None
    mean = sum(one.norms) / len(one.norms)
    return True if decode(norm) > 1.05 * mean else False if decode(norm) < mean else None


def _updates(rank: RankFolder) -> list[_Update]:
    """The updates of the optimizer that steps first, each with what came since the one before."""
    found: list[_Update] = []
    open_one = _Update()
    criterion: float | None = None
    optimizer = None
    for event in rank.events(phase=TRAIN):
        name = event["event"]
        if name == EventName.BATCH:
            open_one.batches += 1
        elif name == EventName.CRITERION:
            reduced = event.get("settings", {}).get("reduction", "mean") == "mean"
            criterion = decode(event["value"]) if reduced else None
        elif name == EventName.LOSS:
            value = decode(event["value"])
            open_one.loss = open_one.loss or event
            if criterion:
                open_one.ratios.append(value / criterion)
            criterion = None
        elif name == EventName.BACKWARD:
            open_one.backwards += 1
            if event.get("norm") is not None:
                open_one.norms.append(decode(event["norm"]))
        elif name == EventName.CLIP:
            open_one.clipped = True
        elif name == EventName.SCALE:
            open_one.scale = decode(event["value"])
        elif name == EventName.STEP:
            optimizer = event["optimizer"] if optimizer is None else optimizer
            if event["optimizer"] == optimizer:
                open_one.step = event
                found.append(open_one)
                open_one = _Update()
    return found
