"""What was fed, batch by batch, and by which loader in which of its iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BatchEvent, LoaderEvent
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.sample import Batch

# What the first so many batches do not show the rest will not, and reading all of a long run takes minutes.
MAX_BATCHES: Final = 20_000
# The share of a set that is left where the last batch is dropped.
WHOLE: Final = 0.95
Read = TypeVar("Read")


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
    facts: LoaderEvent | None
    batches: Sequence[Fed]

    def iterations(self) -> list[list[Fed]]:
        """The batches of each pass over the loader."""
        iterations: dict[int, list[Fed]] = {}
        for fed in self.batches:
            iterations.setdefault(fed.iteration, []).append(fed)
        return list(iterations.values())

    def where(self, rank: int | None = None, step: int | None = None, sample: int | None = None) -> Location:
        """The loop over it."""
        line = self.facts.at if self.facts is not None else None
        return replace(line or Location(), rank=rank, step=step, sample=sample)

    @property
    def samples(self) -> int | None:
        """How many samples its set has, where that is known."""
        return self.facts.samples if self.facts is not None else None

    @property
    def length(self) -> int | None:
        """How many batches a pass over it has, where that is known."""
        return self.facts.length if self.facts is not None else None

    @property
    def sampler(self) -> str | None:
        """The class of its sampler, where that is known."""
        return self.facts.sampler if self.facts is not None else None

    @property
    def shuffle(self) -> bool | None:
        """Whether it was asked to shuffle, where that is known."""
        return self.facts.shuffle if self.facts is not None else None


def is_whole_set(stream: Stream) -> bool:
    """Whether a loader went through its set at least once: it began again, or gave as many samples as it has."""
    samples, iterations = stream.samples, stream.iterations()
    longest = sum(fed.batch.size for fed in max(iterations, key=len)) if iterations else 0
    return len(iterations) > 1 or (samples is not None and longest >= WHOLE * samples)


def streams(run: Run, rank: int | None = None) -> list[Stream]:
    """What was fed to one rank, the first where none is named: the streams of training before those of evaluation."""
    if not run.ranks:
        return []
    return _streams_of.of(run.rank(run.ranks[0] if rank is None else rank))


def training(run: Run, rank: int | None = None) -> list[Stream]:
    """Those of training."""
    return [stream for stream in streams(run, rank) if stream.phase == Phase.TRAIN]


def evaluation(run: Run, rank: int | None = None) -> list[Stream]:
    """Those of evaluation."""
    return [stream for stream in streams(run, rank) if stream.phase == Phase.EVAL]


def _streams(folder: RankFolder) -> list[Stream]:
    facts: dict[tuple[str, int | None], LoaderEvent] = {}
    begun: dict[tuple[str, int | None], int] = {}
    fed: dict[tuple[str, int | None], list[Fed]] = {}
    count = 0
    key: tuple[str, int | None]
    for event in folder.events(LoaderEvent, BatchEvent):
        if isinstance(event, LoaderEvent):
            key = (event.phase, event.loader)
            facts[key] = event
            begun[key] = begun.get(key, -1) + 1
        elif isinstance(event, BatchEvent):
            key = (event.phase, event.loader)
            try:
                batch = event.batch()
            except ValueError:
                continue
            fed.setdefault(key, []).append(Fed(event.step, *key, begun.get(key, 0), batch))
            count += 1
            if count >= MAX_BATCHES:
                break
    in_order = sorted(fed, key=lambda key: key[0] != Phase.TRAIN)
    return [Stream(*key, facts.get(key), fed[key]) for key in in_order]


class Once(Generic[Read]):
    """What is read of a rank, read only the first time that it is asked for."""

    def __init__(self, read: Callable[[RankFolder], Read]) -> None:
        self._read = read
        self._kept: WeakKeyDictionary[RankFolder, Read] = WeakKeyDictionary()

    def of(self, folder: RankFolder) -> Read:
        """What is read of it."""
        if folder not in self._kept:
            self._kept[folder] = self._read(folder)
        return self._kept[folder]


_streams_of: Final = Once(_streams)
