"""All laws over the events of a rank, or of all ranks, in one pass each; an item asks for what its own have found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from weakref import WeakKeyDictionary

from trueline.checks.engine.check import found, none, suspect, undecided
from trueline.checks.laws.law import Breach, Law, Lines, RanksLaw
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event
from trueline.model.finding import Finding

_laws: list[type[Law]] = []
_ranks_laws: list[type[RanksLaw]] = []
_heard: WeakKeyDictionary[RankFolder, dict[type[Law], Heard]] = WeakKeyDictionary()
_heard_of_all: WeakKeyDictionary[Run, dict[type[RanksLaw], Heard]] = WeakKeyDictionary()
# Of so many steps of all ranks together events are in memory at once.
_STEPS_AT_ONCE: Final = 256


@dataclass(slots=True)
class Heard:
    """What a law has found in a rank, and how much it could judge."""

    breaches: list[Breach] = field(default_factory=list)
    looked: int = 0


def law(kind: type[Law]) -> type[Law]:
    """Register a law."""
    _laws.append(kind)
    return kind


def ranks_law(kind: type[RanksLaw]) -> type[RanksLaw]:
    """Register a law over all ranks."""
    _ranks_laws.append(kind)
    return kind


def heard(rank: RankFolder) -> dict[type[Law], Heard]:
    """What each law has found in a rank."""
    known = _heard.get(rank)
    if known is None or len(known) < len(_laws):
        known = _heard[rank] = _listen(rank)
    return known


def _listen(rank: RankFolder) -> dict[type[Law], Heard]:
    lines: Lines = {}
    laws = [kind(rank, lines) for kind in _laws]
    found: dict[type[Law], Heard] = {type(one): Heard() for one in laws}
    listening: dict[type[Event], list[Law]] = {}
    for one in laws:
        for kind in one.hears:
            listening.setdefault(kind, []).append(one)
    for event in rank.events(*listening):
        if event.line is not None:
            lines[type(event)] = event.line
        for one in listening[type(event)]:
            found[type(one)].breaches.extend(one.hear(event))
    for one in laws:
        found[type(one)].breaches.extend(one.ended())
        found[type(one)].looked = one.looked
    return found


def heard_of_all(run: Run) -> dict[type[RanksLaw], Heard]:
    """What each law over all ranks has found."""
    known = _heard_of_all.get(run)
    if known is None or len(known) < len(_ranks_laws):
        known = _heard_of_all[run] = _listen_to_all(run)
    return known


def _listen_to_all(run: Run) -> dict[type[RanksLaw], Heard]:
    lines: dict[int, Lines] = {rank: {} for rank in run.ranks}
    laws = [kind(run, lines) for kind in _ranks_laws]
    found: dict[type[RanksLaw], Heard] = {type(each): Heard() for each in laws}
    listening: dict[type[Event], list[RanksLaw]] = {}
    for each in laws:
        for kind in each.hears:
            listening.setdefault(kind, []).append(each)
    folders = {rank: run.rank(rank) for rank in run.ranks} if len(run.ranks) > 1 else {}
    most = max((folder.steps for folder in folders.values()), default=0)
    at_once = max(_STEPS_AT_ONCE // max(len(folders), 1), 1)
    for first in range(0, most, at_once):
        for rank, folder in folders.items():
            for event in folder.stretch(first, first + at_once, *listening):
                if event.line is not None:
                    lines[rank][type(event)] = event.line
                for each in listening[type(event)]:
                    found[type(each)].breaches.extend(each.hear(rank, event))
    for each in laws:
        found[type(each)].breaches.extend(each.ended())
        found[type(each)].looked = each.looked
    return found


def judged(run: Run, *laws: type[Law | RanksLaw], kept: str, unseen: str, decides: bool = False) -> Iterator[Finding]:
    """What an item's laws have found in all ranks: the first breach of a law at a place, or how much was looked at.

    ``kept`` and ``unseen`` are the item's sentences where there is none; ``decides``: its laws are all of the item.
    """
    looked = {kind.__name__: 0 for kind in laws}
    said: set[tuple[str, str | None, int | None, str | None]] = set()
    for kind, number, outcome in _outcomes(run, laws):
        looked[kind.__name__] += outcome.looked
        for breach in outcome.breaches:
            where = breach.where
            key = (breach.said, where.file, where.line, where.module)
            if key not in said:
                said.add(key)
                yield _finding(breach, number if len(run.ranks) > 1 else None)
    if said:
        return
    evidence = [dict(looked)]
    total = sum(looked.values())
    if decides and all(looked.values()):
        yield none(kept, evidence=evidence, looked=total)
    elif total:
        yield undecided(kept, evidence=evidence, looked=total)
    else:
        yield undecided(unseen)


def _outcomes(
    run: Run, laws: Sequence[type[Law | RanksLaw]]
) -> Iterator[tuple[type[Law | RanksLaw], int | None, Heard]]:
    for kind in laws:
        if issubclass(kind, RanksLaw):
            # Its breaches say themselves which rank they are of.
            yield kind, None, heard_of_all(run)[kind]
    for number in run.ranks:
        for kind in laws:
            if issubclass(kind, Law):
                yield kind, number, heard(run.rank(number))[kind]


def _finding(breach: Breach, rank: int | None) -> Finding:
    where = breach.where if rank is None else replace(breach.where, rank=rank)
    say = found if breach.sure else suspect
    return say(
        breach.said,
        where,
        measured=breach.measured,
        limit=breach.limit,
        evidence=breach.evidence,
        **breach.params,
    )
