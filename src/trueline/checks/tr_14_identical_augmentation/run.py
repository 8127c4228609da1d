"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.feeding import training
from trueline.checks.evidence.looks import looked, trained_rank
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.model.run import EventName


@check("tr.14", "identical augmentation in every worker")
def from_run(run: Run) -> Iterator[Finding]:
    """Generators that begin alike in several workers and are drawn from."""
    rank = trained_rank(run)
    told = looked(rank, EventName.WORKERS) if rank is not None else []
    rounds: dict[str, dict[int, dict[str, list[str]]]] = {}
    for event in told:
        rounds.setdefault(event["round"], {})[event["worker"]] = event["streams"]
    several = {number: workers for number, workers in rounds.items() if len(workers) > 1}
    if rank is None or not several:
        counts = [stream.facts.get("workers") for stream in training(run)]
        alone = bool(counts) and all(isinstance(count, int) and count < 2 for count in counts)
        yield (na if alone else undecided)("tr_14.no_workers")
        return
    alike = sorted({name for workers in several.values() for name in _alike(workers)})
    workers = max(len(one) for one in several.values())
    evidence: list[Any] = [{"rounds": len(several), "workers": workers, "alike": alike}]
    if alike:
        names = ", ".join(alike)
        yield found(
            "tr_14.alike", _where(rank), measured=len(alike), limit=0, evidence=evidence, workers=workers, names=names
        )
    else:
        yield none("tr_14.apart", evidence=evidence, workers=workers)


def _alike(workers: dict[int, dict[str, list[str]]]) -> Iterator[str]:
    """Generators with one beginning in several workers that have drawn from it."""
    for name in set.intersection(*(set(one) for one in workers.values())):
        drawn = [streams[name][0] for streams in workers.values() if streams[name][0] != streams[name][1]]
        if len(drawn) > 1 and len(set(drawn)) < len(drawn):
            yield name


def _where(rank: RankFolder) -> Location:
    for event in rank.events(EventName.LOADER):
        line = event.get("at") or event.get("line")
        if event.get("workers", 0) and line:
            return Location(file=line["file"], line=line["line"], step=event["step"])
    return Location()
