"""The line that a difference is told at: of those that lead to it, one that the benchmark has otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from trueline.checks.of_pair.comparing import place_of
from trueline.checks.of_pair.difference import Difference
from trueline.script.place import Place
from trueline.script.script import Script
from trueline.script.source import SourceFile
from trueline.script.values import ancestry

# Texts that have less than this in common are not one another's version.
_SIMILAR: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Versions:
    """A file of the script and that of the benchmark that it is a version of."""

    mine: SourceFile
    changed: frozenset[int]
    # For each line of the benchmark's, the one that stands there now; only of lines that are not there any more.
    moved: dict[int, int]


class Placing:
    """Knows which lines of a script are not in its benchmark's."""

    def __init__(self, script: Script, bench: Script) -> None:
        self._by_mine: dict[str, _Versions] = {}
        self._by_bench: dict[str, _Versions] = {}
        others = {one.path.name: one for one in reversed(list(bench.files))}
        for mine in script.files:
            other = others.get(mine.path.name)
            if other is None and len(script.files) == len(bench.files) == 1:
                other = bench.files[0]
            if other is not None:
                versions = _versions(mine, other)
                if versions is not None:
                    self._by_mine[mine.shown] = versions
                    self._by_bench[other.shown] = versions

    def of(self, one: Difference) -> Place | None:
        """Where the script does it otherwise, or where what it lacks belongs."""
        places = list(dict.fromkeys(self._candidates(one)))
        return next((place for place in places if self._is_changed(place)), places[0] if places else None)

    def _candidates(self, one: Difference) -> Iterator[Place]:
        if one.bench is not None and one.bench.place is not None:
            lost = self._lost(one.bench.place)
            if lost is not None and one.mine is None:
                yield lost
        if one.mine is not None and one.mine.place is not None:
            yield one.mine.place
            for value in ancestry(one.mine.value, most=12):
                place = place_of(value)
                if place is not None and self._is_changed(place):
                    yield place
        if one.bench is not None and one.bench.place is not None:
            lost = self._lost(one.bench.place)
            if lost is not None:
                yield lost
        event = one.owner[0] if one.owner is not None else one.mine.event if one.mine is not None else None
        if event is not None:
            yield event.place
            yield from reversed(event.callers())

    def _is_changed(self, place: Place) -> bool:
        versions = self._by_mine.get(place.file)
        return versions is not None and any(
            line in versions.changed for line in range(place.line, max(place.last, place.line) + 1)
        )

    def _lost(self, place: Place) -> Place | None:
        """The line of the script where a line of the benchmark's was."""
        versions = self._by_bench.get(place.file)
        for line in range(place.line, max(place.last, place.line) + 1):
            if versions is not None and line in versions.moved:
                now = versions.moved[line]
                return Place(versions.mine.shown, now, now)
        return None


def _versions(mine: SourceFile, other: SourceFile) -> _Versions | None:
    own, before = ([line.strip() for line in one.text.splitlines()] for one in (mine, other))
    matcher = SequenceMatcher(None, before, own, autojunk=False)
    changed: set[int] = set()
    moved: dict[int, int] = {}
    same = 0
    for how, a, b, c, d in matcher.get_opcodes():
        if how == "equal":
            same += b - a
            continue
        changed.update(range(c + 1, d + 1))
        for line in range(a, b):
            # Beside the line that has taken its place, else where the next one stands.
            now = min(c + line - a, d - 1) if d > c else min(c, len(own) - 1)
            moved[line + 1] = now + 1
    if same < _SIMILAR * max(len(own), len(before), 1):
        return None
    return _Versions(mine, frozenset(changed), moved)
