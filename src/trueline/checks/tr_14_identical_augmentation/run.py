"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.evidence.looks import looked, loop_where, trained_rank
from trueline.checks.evidence.streams import training
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import LoaderEvent, WorkersEvent
from trueline.model.finding import Finding
from trueline.model.json_value import Json
from trueline.model.location import Location

# The states of each of a worker's generators, before and after its first fetch.
_Streams: TypeAlias = Mapping[str, Sequence[str]]


@check("tr.14", "identical augmentation in every worker")
def from_run(run: Run) -> Iterator[Finding]:
    """Generators that begin alike in several workers and are drawn from."""
    rank = trained_rank(run)
    rounds: dict[str, dict[int, _Streams]] = {}
    for event in looked(rank, WorkersEvent) if rank is not None else []:
        rounds.setdefault(event.round, {})[event.worker] = event.streams
    several = {number: workers for number, workers in rounds.items() if len(workers) > 1}
    if rank is None or not several:
        counts = [stream.facts.workers if stream.facts is not None else None for stream in training(run)]
        alone = bool(counts) and all(count is not None and count < 2 for count in counts)
        yield (na if alone else undecided)("tr_14.no_workers")
        return
    alike = sorted({name for workers in several.values() for name in _alike(workers)})
    workers = max(len(streams) for streams in several.values())
    evidence: list[Json] = [{"rounds": len(several), "workers": workers, "alike": alike}]
    if alike:
        names = ", ".join(alike)
        yield found(
            "tr_14.alike", _where(rank), measured=len(alike), limit=0, evidence=evidence, workers=workers, names=names
        )
    else:
        yield none("tr_14.apart", evidence=evidence, workers=workers)


def _alike(workers: Mapping[int, _Streams]) -> Iterator[str]:
    """Generators with one beginning in several workers that have drawn from it."""
    for name in set.intersection(*(set(streams) for streams in workers.values())):
        drawn = [streams[name][0] for streams in workers.values() if streams[name][0] != streams[name][1]]
        if len(drawn) > 1 and len(set(drawn)) < len(drawn):
            yield name


def _where(rank: RankFolder) -> Location:
    for event in rank.events(LoaderEvent):
        if event.workers and (event.at or event.line):
            return loop_where(event)
    return Location()
