"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import TRAIN, came_before, gradient_looks, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, StepEvent, ZeroGradEvent
from trueline.model.finding import Finding


@check("tr.01", "gradients are not cleared between updates")
def from_run(run: Run, *, min_share: float = 0.5) -> Iterator[Finding]:
    """Two updates and the backward between them are enough."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("tr_01.no_steps")
        return
    if run.info.framework == "mindspore":
        yield na("tr_01.handed_out")
        return
    early = _cleared_too_early(rank)
    if early is not None:
        yield found("tr_01.too_early", where(early), evidence=[_order(rank, early)], step=early.step)
        return
    looked = [update for update in rank.events(StepEvent, phase=TRAIN) if update.uncleared is not None]
    if not looked:
        yield undecided("tr_01.one_update")
        return
    for optimizer in sorted({update.optimizer for update in looked}):
        own = [update for update in looked if update.optimizer == optimizer]
        left = [update for update in own if update.uncleared]
        share = len(left) / len(own)
        evidence = [{"step": update.step, "optimizer": optimizer, "uncleared": update.uncleared} for update in own]
        if share > min_share:
            yield found(
                "tr_01.left",
                where(left[0]),
                measured=share,
                limit=min_share,
                evidence=evidence,
                step=left[0].step,
                kind=left[0].kind,
            )
        else:
            yield none("tr_01.cleared", evidence=evidence, measured=share, limit=min_share, updates=len(own))


def _order(rank: RankFolder, clearing: ZeroGradEvent) -> list[str]:
    events = rank.events(BackwardEvent, ZeroGradEvent, StepEvent, step=clearing.step, phase=TRAIN)
    return [event.name for event in events]


def _cleared_too_early(rank: RankFolder) -> ZeroGradEvent | None:
    """The first zero_grad between backward and the step, where all gradients of every step looked at are gone."""
    for looks in gradient_looks(rank).values():
        empty = [len({*look.none, *look.zero}) + look.strangers >= look.held > 0 for look in looks]
        clearing = [_clearing(rank, look.step) for look in looks]
        if all(empty) and all(clearing):
            return clearing[0]
    return None


def _clearing(rank: RankFolder, step: int) -> ZeroGradEvent | None:
    """A step's zero_grad that comes after its last backward and before its update."""
    clearing = None
    for event in rank.events(BackwardEvent, ZeroGradEvent, StepEvent, step=step, phase=TRAIN):
        if isinstance(event, BackwardEvent):
            clearing = None
        elif isinstance(event, ZeroGradEvent):
            clearing = event
        else:
            break
    return clearing if clearing is not None and _is_after_backward(rank, step, clearing) else None


def _is_after_backward(rank: RankFolder, step: int, clearing: ZeroGradEvent) -> bool:
    return any(not came_before(clearing, event) for event in rank.events(BackwardEvent, step=step, phase=TRAIN))
