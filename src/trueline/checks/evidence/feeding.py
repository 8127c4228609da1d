"""What was fed, batch by batch, and by which loader in which of its iterations."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.run import EventName
from trueline.model.sample import Batch

# What the first so many batches do not show the rest will not, and reading all of a long run takes minutes.
_MOST_BATCHES: Final = 20_000
# A last batch that is dropped leaves so many.
WHOLE: Final = 0.95
Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Fed:
    """One batch. ``loader`` is None where it was seen only as the network was called with it."""

    step: int
    phase: str
    loader: int | None
    iteration: int
    batch: Batch


@dataclass(frozen=True, slots=True)
class Stream:
    """All batches of one phase that came from one loader, and what is known of it."""

    phase: str
    loader: int | None
    facts: Mapping[str, Any]
    batches: Sequence[Fed]

    def iterations(self) -> list[list[Fed]]:
        """The batches of each pass over the loader."""
        found: dict[int, list[Fed]] = {}
        for one in self.batches:
            found.setdefault(one.iteration, []).append(one)
        return list(found.values())

    def where(self, rank: int | None = None, step: int | None = None, sample: int | None = None) -> Location:
        """The loop over it."""
        at = self.facts.get("at")
        line = at if isinstance(at, Mapping) else {}
        return Location(line.get("file") or "", line.get("line") or 0, rank=rank, step=step, sample=sample)


def is_whole_set(stream: Stream) -> bool:
    """Whether a loader went through its set at least once: it began again, or gave as many samples as it has."""
    samples, iterations = stream.facts.get("samples"), stream.iterations()
    longest = sum(fed.batch.size for fed in max(iterations, key=len)) if iterations else 0
    return len(iterations) > 1 or (isinstance(samples, int) and longest >= WHOLE * samples)


def streams(run: Run, rank: int | None = None) -> list[Stream]:
    """What was fed to one rank, the first where none is named: the streams of training before those of evaluation."""
    if not run.ranks:
        return []
    return once(run.rank(run.ranks[0] if rank is None else rank), "streams", _streams)


def training(run: Run, rank: int | None = None) -> list[Stream]:
    """Those of training."""
    return [one for one in streams(run, rank) if one.phase == Phase.TRAIN]


def evaluation(run: Run, rank: int | None = None) -> list[Stream]:
    """Those of evaluation."""
    return [one for one in streams(run, rank) if one.phase == Phase.EVAL]


def _streams(folder: RankFolder) -> list[Stream]:
    facts: dict[tuple[str, int | None], Mapping[str, Any]] = {}
    begun: dict[tuple[str, int | None], int] = {}
    found: dict[tuple[str, int | None], list[Fed]] = {}
    count = 0
    for event in _of_interest(folder):
        loader = event.get("loader")
        key = (str(event["phase"]), loader if isinstance(loader, int) else None)
        if event["event"] == EventName.LOADER:
            facts[key] = event
            begun[key] = begun.get(key, -1) + 1
            continue
        try:
            batch = Batch.from_json(event["samples"])
        except (KeyError, TypeError, AttributeError, ValueError):
            continue
        found.setdefault(key, []).append(Fed(int(event["step"]), key[0], key[1], max(begun.get(key, 0), 0), batch))
        count += 1
        if count >= _MOST_BATCHES:
            break
    in_order = sorted(found, key=lambda key: key[0] != Phase.TRAIN)
    return [Stream(key[0], key[1], facts.get(key, {}), found[key]) for key in in_order]


def _of_interest(folder: RankFolder) -> Iterator[dict[str, Any]]:
    for event in folder.events():
        if event["event"] in (EventName.LOADER, EventName.BATCH):
            yield event


_kept: weakref.WeakKeyDictionary[RankFolder, dict[str, Any]] = weakref.WeakKeyDictionary()


def once(folder: RankFolder, name: str, read: Callable[[RankFolder], Told]) -> Told:
    """What is read of a rank, read only the first time that it is asked for."""
    kept = _kept.setdefault(folder, {})
    if name not in kept:
        kept[name] = read(folder)
    told: Told = kept[name]
    return told
