"""What a law is: it hears the events of one rank, or of all ranks, and tells of each breach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from trueline.checks.engine.check import Params
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event
from trueline.model.json_value import Json
from trueline.model.location import Location


@dataclass(frozen=True, slots=True)
class Breach:
    """Where a law does not hold: ``said`` is a message of its item, ``where`` has step and line as far as known.

    ``sure`` is False where the author may have meant it.
    """

    said: str
    where: Location
    measured: Json = None
    limit: Json = None
    sure: bool = True
    evidence: Sequence[Json] = ()
    params: Params = field(default_factory=dict)


# Only the first events of a kind have a line: the last that was seen, by kind.
Lines: TypeAlias = dict[type[Event], Location]


class Law:
    """One law over the events of one rank, in their order; ``looked`` counts what it could judge."""

    hears: ClassVar[tuple[type[Event], ...]] = ()

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        self.rank = rank
        self.looked = 0
        self._lines = lines

    def at(self, event: Event) -> Location:
        """An event's step and line: its own, else the last that one of its kind had."""
        return replace(event.line or self._lines.get(type(event)) or Location(), step=event.step)

    def hear(self, _: Event, /) -> Iterator[Breach]:
        """An event of one of the kinds it hears."""
        yield from ()

    def ended(self) -> Iterator[Breach]:
        """There are no more events, for now or for good."""
        yield from ()


class RanksLaw:
    """One law over the events of all ranks: a few steps of one rank, then the same steps of the next.

    What belongs together it aligns itself, by step or by the order of calls; ``looked`` counts what it could judge.
    """

    hears: ClassVar[tuple[type[Event], ...]] = ()

    def __init__(self, run: Run, lines: Mapping[int, Lines]) -> None:
        self.run = run
        self.looked = 0
        self._lines = lines

    def at(self, rank: int, event: Event) -> Location:
        """An event's rank, step and line: its own, else the last that one of its kind had on the rank."""
        line = event.line or self._lines[rank].get(type(event)) or Location()
        return replace(line, step=event.step, rank=rank)

    def hear(self, _rank: int, _event: Event, /) -> Iterator[Breach]:
        """An event of one of the kinds it hears, and its rank."""
        yield from ()

    def ended(self) -> Iterator[Breach]:
        """There are no more events, for now or for good."""
        yield from ()
