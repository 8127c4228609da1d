"""All laws over the events of a rank, in one pass; an item asks for what its own have found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from trueline.checks.engine.check import found, none, suspect, undecided
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event
from trueline.model.finding import Finding

_laws: list[type[Law]] = []
_heard: WeakKeyDictionary[RankFolder, dict[type[Law], Heard]] = WeakKeyDictionary()


@dataclass(slots=True)
class Heard:
    """What a law has found in a rank, and how much it could judge."""

    breaches: list[Breach] = field(default_factory=list)
    looked: int = 0


def law(kind: type[Law]) -> type[Law]:
    """Register a law."""
    _laws.append(kind)
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


def judged(run: Run, *laws: type[Law], kept: str, unseen: str, decides: bool = False) -> Iterator[Finding]:
    """What an item's laws have found in all ranks: the first breach of a law at a place, or how much was looked at.

    ``kept`` and ``unseen`` are the item's sentences where there is none; ``decides``: its laws are all of the item.
    """
    looked = {kind.__name__: 0 for kind in laws}
    said: set[tuple[str, str | None, int | None, str | None]] = set()
    for number in run.ranks:
        for kind in laws:
            outcome = heard(run.rank(number))[kind]
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
