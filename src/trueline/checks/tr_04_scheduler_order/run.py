"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, looked, trained_rank, where
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.run import EventName


@check("tr.04", "the schedule steps before the optimizer, or never")
def from_run(run: Run) -> Iterator[Finding]:
    """The order of updates and steps of schedules."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("tr_04.no_steps")
        return
    built = looked(rank, EventName.SCHEDULE)
    stepped = list(rank.events(EventName.SCHEDULER))
    updates = [one for one in rank.events(EventName.STEP) if not one["skipped"]]
    if not built and not stepped:
        yield na("tr_04.no_schedule")
        return
    if stepped and updates and stepped[0]["t"] < updates[0]["t"] and not _skipped_before(rank, stepped[0]):
        evidence = [{"schedule": stepped[0]["t"], "update": updates[0]["t"]}]
        yield found("tr_04.before", where(stepped[0]), evidence=evidence, kind=stepped[0]["kind"])
    elif not stepped:
        own = built[-1]
        evidence = [{"built": one["kind"], "line": one.get("line")} for one in built]
        rounds = _rounds(rank)
        # Where every update was skipped a schedule waits for the first one.
        if rounds > 1 and run.info.ended and updates:
            yield found(
                "tr_04.never", where(own), measured=0, evidence=evidence, kind=own["kind"], updates=len(updates)
            )
        else:
            yield suspect("tr_04.never", where(own), evidence=evidence, kind=own["kind"], updates=len(updates))
    else:
        evidence = [{"schedule": stepped[0]["t"], "update": updates[0]["t"] if updates else None}]
        yield none("tr_04.after", evidence=evidence, steps=len(stepped), updates=len(updates))


def _skipped_before(rank: RankFolder, step: dict[str, Any]) -> bool:
    """An update that was skipped for an overflow came first: the order in the script is right."""
    return any(one["skipped"] and one["t"] < step["t"] for one in rank.events(EventName.STEP))


def _rounds(rank: RankFolder) -> int:
    """How often the loader of the training was gone through."""
    loaders = [one.get("loader") for one in rank.events(EventName.BATCH, phase=TRAIN)]
    main = loaders[0] if loaders else None
    return sum(one["loader"] == main for one in rank.events(EventName.LOADER))
