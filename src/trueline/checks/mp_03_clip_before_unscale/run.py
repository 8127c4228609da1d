"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.numbers import decode
from trueline.model.run import EventName


@check("mp.03", "gradients are clipped before they are unscaled")
def from_run(run: Run) -> Iterator[Finding]:
    """The order of scale, unscale, clip and step."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("mp_03.no_steps")
        return
    clipped, wrong, unsure = _steps(rank)
    if not clipped:
        yield na("mp_03.no_clip")
    elif wrong:
        order = _order(rank, wrong[0]["step"])
        yield found(
            "mp_03.scaled", where(wrong[0]), measured=len(wrong), limit=0, evidence=[order], step=wrong[0]["step"]
        )
    elif unsure:
        order = _order(rank, unsure[0]["step"])
        yield suspect("mp_03.never_unscaled", where(unsure[0]), evidence=[order], step=unsure[0]["step"])
    else:
        yield none("mp_03.in_order", evidence=[_order(rank, clipped[0]["step"])], steps=len(clipped))


def _steps(rank: RankFolder) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The clip of each scaled step; those before an unscale; and those of steps that show no unscale at all."""
    steps: dict[int, list[dict[str, Any]]] = {}
    kinds = (EventName.SCALE, EventName.UNSCALE, EventName.CLIP, EventName.STEP)
    for event in rank.events(phase=TRAIN):
        if event["event"] in kinds:
            steps.setdefault(event["step"], []).append(event)
    clipped: list[dict[str, Any]] = []
    wrong: list[dict[str, Any]] = []
    unsure: list[dict[str, Any]] = []
    for events in steps.values():
        scaled = any(one["event"] == EventName.SCALE and decode(one["value"]) != 1.0 for one in events)
        clip = next((one for one in events if one["event"] == EventName.CLIP), None)
        if not scaled or clip is None:
            continue
        clipped.append(clip)
        place = events.index(clip)
        if any(one["event"] == EventName.UNSCALE for one in events[:place]):
            continue
        late = any(one["event"] == EventName.UNSCALE for one in events[place:])
        (wrong if late else unsure).append(clip)
    return clipped, wrong, unsure


def _order(rank: RankFolder, step: int) -> dict[str, Any]:
    kinds = (EventName.SCALE, EventName.BACKWARD, EventName.UNSCALE, EventName.CLIP, EventName.STEP)
    order = [one["event"] for one in rank.events(step=step, phase=TRAIN) if one["event"] in kinds]
    return {"step": step, "order": order}
