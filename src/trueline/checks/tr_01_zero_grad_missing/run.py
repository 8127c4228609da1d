"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import TRAIN, gradient_looks, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.run import EventName


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
        yield found("tr_01.too_early", where(early), evidence=[_order(rank, early)], step=early["step"])
        return
    looked = [one for one in rank.events(EventName.STEP, phase=TRAIN) if "uncleared" in one]
    if not looked:
        yield undecided("tr_01.one_update")
        return
    for optimizer in sorted({one["optimizer"] for one in looked}):
        own = [one for one in looked if one["optimizer"] == optimizer]
        left = [one for one in own if one["uncleared"]]
        share = len(left) / len(own)
        evidence = [{"step": one["step"], "optimizer": optimizer, "uncleared": one["uncleared"]} for one in own]
        if share > min_share:
            yield found(
                "tr_01.left",
                where(left[0]),
                measured=share,
                limit=min_share,
                evidence=evidence,
                step=left[0]["step"],
                kind=left[0]["kind"],
            )
        else:
            yield none("tr_01.cleared", evidence=evidence, measured=share, limit=min_share, updates=len(own))


def _order(rank: RankFolder, event: dict[str, Any]) -> list[str]:
    kinds = (EventName.BACKWARD, EventName.ZERO_GRAD, EventName.STEP)
    return [one["event"] for one in rank.events(step=event["step"], phase=TRAIN) if one["event"] in kinds]


def _cleared_too_early(rank: RankFolder) -> dict[str, Any] | None:
    """The first zero_grad between backward and the step, where all gradients of every step looked at are gone."""
    for looks in gradient_looks(rank).values():
        empty = [len({*one["none"], *one["zero"]}) + one["strangers"] >= one["held"] > 0 for one in looks]
        clearing = [_clearing(rank, one["step"]) for one in looks]
        if all(empty) and all(clearing):
            return clearing[0]
    return None


def _clearing(rank: RankFolder, step: int) -> dict[str, Any] | None:
    """A step's zero_grad that comes after its last backward and before its update."""
    found = None
    for event in rank.events(step=step, phase=TRAIN):
        if event["event"] == EventName.BACKWARD:
            found = None
        elif event["event"] == EventName.ZERO_GRAD:
            found = event
        elif event["event"] == EventName.STEP:
            break
    backward = any(True for _ in rank.events(EventName.BACKWARD, step=step, phase=TRAIN))
    return found if backward and found is not None and _after_backward(rank, step, found) else None


def _after_backward(rank: RankFolder, step: int, clearing: dict[str, Any]) -> bool:
    return any(one["t"] <= clearing["t"] for one in rank.events(EventName.BACKWARD, step=step, phase=TRAIN))
