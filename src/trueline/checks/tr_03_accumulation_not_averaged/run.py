"""What a run shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, BatchEvent, ClipEvent, CriterionEvent, LossEvent, ScaleEvent, StepEvent
from trueline.model.finding import Finding
from trueline.model.json_value import Json

MAX_RATIO_APART = 1e-4  # of a loss from the criterion's value, but for rounding
MAX_FACTOR_APART = 1e-2  # of the gradients from the sum of their backward passes
MIN_SUM = 1.05  # a norm that is so much longer than the mean of the norms is that of a sum
MAX_SHOWN = 6  # updates in the evidence


@dataclass(slots=True)
class _Passes:
    """What led to one update: each backward's loss, the loss function's own value and the norm it gave."""

    backwards: int = 0
    batches: int = 0
    ratios: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    clipped: bool = False
    scale: float = 1.0
    loss: LossEvent | None = None


@dataclass(frozen=True, slots=True)
class _Update:
    """An optimizer's step, and what led to it."""

    step: StepEvent
    before: _Passes


@check("tr.03", "accumulated gradients are not averaged")
def from_run(run: Run, *, min_updates: int = 2) -> Iterator[Finding]:
    """Losses of the batches of an update, against what the loss function gave."""
    rank = trained_rank(run)
    updates = _updates(rank) if rank is not None else []
    several = [update for update in updates if update.before.batches >= update.before.backwards > 1]
    if len(several) < min_updates or len(several) * 2 < len(updates) or _optimizers(rank) > 1:
        if not updates:
            yield undecided("tr_03.no_updates")
        else:
            # Where several optimizers take turns, several backwards may be of one batch.
            yield (undecided if several else na)("tr_03.not_accumulated")
        return
    count = Counter(update.before.backwards for update in several).most_common(1)[0][0]
    own = [update for update in several if update.before.backwards == count]
    ratios = [ratio for update in own for ratio in update.before.ratios]
    evidence: list[Json] = [
        {"step": update.step.step, "backwards": count, "ratios": update.before.ratios} for update in own[:MAX_SHOWN]
    ]
    place = where(own[0].before.loss or own[0].step)
    if not ratios:
        yield undecided("tr_03.own_loss", count=count)
    elif all(abs(ratio * count - 1) < MAX_RATIO_APART for ratio in ratios):
        yield none("tr_03.divided", evidence=evidence, measured=ratios[0], limit=1 / count, count=count)
    elif all(abs(ratio - 1) < MAX_RATIO_APART for ratio in ratios):
        summed = [_is_summed(update) for update in own]
        if any(answer is False for answer in summed):
            yield none("tr_03.divided_later", evidence=evidence, count=count)
        elif all(answer is None for answer in summed) or any(update.before.clipped for update in own):
            yield suspect("tr_03.summed", place, evidence=evidence, count=count)
        else:
            yield found("tr_03.summed", place, measured=ratios[0], limit=1 / count, evidence=evidence, count=count)
    else:
        yield suspect("tr_03.unclear", place, evidence=evidence, count=count)


def _optimizers(rank: RankFolder | None) -> int:
    """Optimizers that take turns have a backward pass each."""
    return len({update.optimizer for update in rank.events(StepEvent, phase=TRAIN)}) if rank is not None else 0


def _is_summed(update: _Update) -> bool | None:
    """Whether the update used the sum: True for sure, False where it was divided, None where nobody knows.

    A mean is never longer than the mean of the lengths, whatever the directions.
    """
    step, before = update.step, update.before
    if step.factor is not None:
        return abs(step.factor * before.scale - 1) < MAX_FACTOR_APART
    if step.grad_norm is None or len(before.norms) != before.backwards:
        return None
    mean = sum(before.norms) / len(before.norms)
    return True if step.grad_norm > MIN_SUM * mean else False if step.grad_norm < mean else None


def _updates(rank: RankFolder) -> list[_Update]:
    """The updates of the optimizer that steps first, each with what came since the one before."""
    updates: list[_Update] = []
    passes = _Passes()
    criterion: float | None = None
    optimizer = None
    for event in rank.events(phase=TRAIN):
        if isinstance(event, BatchEvent):
            passes.batches += 1
        elif isinstance(event, CriterionEvent):
            criterion = event.value if event.settings.get("reduction", "mean") == "mean" else None
        elif isinstance(event, LossEvent):
            passes.loss = passes.loss or event
            if criterion:
                passes.ratios.append(event.value / criterion)
            criterion = None
        elif isinstance(event, BackwardEvent):
            passes.backwards += 1
            if event.norm is not None:
                passes.norms.append(event.norm)
        elif isinstance(event, ClipEvent):
            passes.clipped = True
        elif isinstance(event, ScaleEvent):
            passes.scale = event.value
        elif isinstance(event, StepEvent):
            optimizer = event.optimizer if optimizer is None else optimizer
            if event.optimizer == optimizer:
                updates.append(_Update(event, passes))
                passes = _Passes()
    return updates
