"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, ClipEvent, Event, ScaleEvent, StepEvent, UnscaleEvent
from trueline.model.finding import Finding
from trueline.model.json_value import JsonObject


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
        order = _order(rank, wrong[0].step)
        yield found("mp_03.scaled", where(wrong[0]), measured=len(wrong), limit=0, evidence=[order], step=wrong[0].step)
    elif unsure:
        order = _order(rank, unsure[0].step)
        yield suspect("mp_03.never_unscaled", where(unsure[0]), evidence=[order], step=unsure[0].step)
    else:
        yield none("mp_03.in_order", evidence=[_order(rank, clipped[0].step)], steps=len(clipped))


def _steps(rank: RankFolder) -> tuple[list[ClipEvent], list[ClipEvent], list[ClipEvent]]:
    """The clip of each scaled step; those before an unscale; and those of steps that show no unscale at all."""
    steps: dict[int, list[Event]] = {}
    for event in rank.events(ScaleEvent, UnscaleEvent, ClipEvent, StepEvent, phase=TRAIN):
        steps.setdefault(event.step, []).append(event)
    clipped: list[ClipEvent] = []
    wrong: list[ClipEvent] = []
    unsure: list[ClipEvent] = []
    for events in steps.values():
        scaled = any(isinstance(event, ScaleEvent) and event.value != 1.0 for event in events)
        clip = next((event for event in events if isinstance(event, ClipEvent)), None)
        if not scaled or clip is None:
            continue
        clipped.append(clip)
        place = events.index(clip)
        if any(isinstance(event, UnscaleEvent) for event in events[:place]):
            continue
        late = any(isinstance(event, UnscaleEvent) for event in events[place:])
        (wrong if late else unsure).append(clip)
    return clipped, wrong, unsure


def _order(rank: RankFolder, step: int) -> JsonObject:
    events = rank.events(ScaleEvent, BackwardEvent, UnscaleEvent, ClipEvent, StepEvent, step=step, phase=TRAIN)
    return {"step": step, "order": [event.name for event in events]}
