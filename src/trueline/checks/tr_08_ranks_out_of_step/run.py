"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import few
from trueline.checks.evidence.ranks import apart_at_start, apart_later, compared_steps
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.location import Location


@check("tr.08", "ranks are out of step")
def from_run(run: Run) -> Iterator[Finding]:
    """Weights of the same step on all ranks."""
    if len(run.ranks) < 2:
        yield na("tr_08.one_rank")
        return
    steps = compared_steps(run)
    if not steps:
        yield undecided("tr_08.not_comparable")
        return
    root = "wi.01" if apart_at_start(run) is not None else None
    reported = 0
    for step, rank, names in apart_later(run):
        reported += 1
        yield found(
            "tr_08.apart",
            Location(step=step, rank=rank),
            because=root,
            measured=len(names),
            limit=0,
            evidence=names[:20],
            step=step,
            rank=rank,
            count=len(names),
            names=few(names),
        )
    if not reported:
        evidence = [{"ranks": len(run.ranks), "steps": steps}]
        yield none("tr_08.together", evidence=evidence, ranks=len(run.ranks), steps=steps)
