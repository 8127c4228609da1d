"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, came_before, looked, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BatchEvent, LoaderEvent, ScheduleEvent, SchedulerEvent, StepEvent
from trueline.model.finding import Finding


@check("tr.04", "the schedule steps before the optimizer, or never")
def from_run(run: Run) -> Iterator[Finding]:
    """The order of updates and steps of schedules."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("tr_04.no_steps")
        return
    built = looked(rank, ScheduleEvent)
    stepped = list(rank.events(SchedulerEvent))
    updates = [update for update in rank.events(StepEvent) if not update.skipped]
    if not built and not stepped:
        yield na("tr_04.no_schedule")
        return
    if stepped and updates and came_before(stepped[0], updates[0]) and not _skipped_before(rank, stepped[0]):
        times = [{"schedule": stepped[0].t, "update": updates[0].t}]
        yield found("tr_04.before", where(stepped[0]), evidence=times, kind=stepped[0].kind)
    elif not stepped:
        own = built[-1]
        evidence = [{"built": schedule.kind, "line": schedule.to_json().get("line")} for schedule in built]
        rounds = _rounds(rank)
        # Where every update was skipped a schedule waits for the first one.
        if rounds > 1 and run.info.ended and updates:
            yield found("tr_04.never", where(own), measured=0, evidence=evidence, kind=own.kind, updates=len(updates))
        else:
            yield suspect("tr_04.never", where(own), evidence=evidence, kind=own.kind, updates=len(updates))
    else:
        times = [{"schedule": stepped[0].t, "update": updates[0].t if updates else None}]
        yield none("tr_04.after", evidence=times, steps=len(stepped), updates=len(updates))


def _skipped_before(rank: RankFolder, step: SchedulerEvent) -> bool:
    """An update that was skipped for an overflow came first: the order in the script is right."""
    return any(update.skipped and came_before(update, step) for update in rank.events(StepEvent))


def _rounds(rank: RankFolder) -> int:
    """How often the loader of the training was gone through."""
    loaders = [batch.loader for batch in rank.events(BatchEvent, phase=TRAIN)]
    main = loaders[0] if loaders else None
    return sum(event.loader == main for event in rank.events(LoaderEvent))
