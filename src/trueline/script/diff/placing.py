"""The line that a difference is told at: of those that lead to it, one that the benchmark has otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from trueline.model.location import Location
from trueline.script.diff.difference import Difference, Kind
from trueline.script.diff.naming import word_of
from trueline.script.diff.nodes import place_of
from trueline.script.diff.surroundings import Surroundings
from trueline.script.roles import Role
from trueline.script.source import SourceFile
from trueline.script.trace import BRANCH, LOOP, Event
from trueline.script.values import Instance, Made, ancestry

# The share of lines that two files have in common: with less they are no versions of one another.
MIN_COMMON_SHARE: Final = 0.5
# Lines before a call in which what it was changed by may stand.
MAX_LINES_BEFORE: Final = 3
# Lines changed at once: more were written anew, and may do the same in another way.
MAX_CHANGED_LINES: Final = 16


@dataclass(frozen=True, slots=True)
class _Versions:
    """A file of the script and that of the benchmark that it is a version of."""

    mine: SourceFile
    changed: frozenset[int]
    # Lines of passages that were written anew.
    rewritten: frozenset[int]
    # For each line of the benchmark's, the one that stands there now; only of lines that are not there any more.
    moved: dict[int, int]
    # Those of them in whose place nothing stands.
    deleted: frozenset[int]


class Placing:
    """Knows which lines of a script are not in its benchmark's."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._by_mine: dict[str, _Versions] = {}
        self._by_bench: dict[str, _Versions] = {}
        files, other_files = around.mine.script.files, around.bench.script.files
        for mine in files:
            bench_file = _nearest(mine, other_files)
            if bench_file is not None:
                versions = _versions(mine, bench_file)
                if versions is not None:
                    self._by_mine[mine.shown] = versions
                    self._by_bench[bench_file.shown] = versions

    def of(self, difference: Difference) -> Location | None:
        """Where the script does it otherwise, or where what it lacks belongs."""
        felt = self._felt(difference)
        if felt is not None:
            return felt
        deleted = (
            difference.kind is Kind.MISSING
            and difference.bench is not None
            and self._is_deleted(difference.bench.place)
        )
        if deleted and difference.owner is not None and not difference.owner[0].in_chain:
            return difference.owner[0].place
        places = list(dict.fromkeys(self._candidates(difference)))
        changed = next((place for place in places if self._is_changed(place)), None)
        if changed is not None:
            return changed
        near = next((before for place in places if (before := self._changed_before(place)) is not None), None)
        return near or (places[0] if places else None)

    def is_certain(self, difference: Difference, place: Location) -> bool:
        """Whether the difference comes from a few lines that were changed, and not from another way of writing."""
        versions = self._by_mine.get(place.file)
        if versions is None or place.line in versions.rewritten:
            return False
        lost = (
            self._lost(difference.bench.place)
            if difference.bench is not None and difference.bench.place is not None
            else None
        )
        return self._is_changed(place) or lost is not None

    def _candidates(self, difference: Difference) -> Iterator[Location]:
        lost = (
            self._lost(difference.bench.place)
            if difference.bench is not None and difference.bench.place is not None
            else None
        )
        if lost is not None and (difference.mine is None or difference.kind is Kind.MISSING):
            yield lost
        if difference.mine is not None and difference.mine.place is not None:
            if difference.kind is Kind.EXTRA:
                yield from self._new_around(difference.mine.event)
            yield difference.mine.place
            yield from difference.within
            for value in ancestry(difference.mine.value, most=12):
                place = place_of(value)
                if place is not None and self._is_changed(place):
                    yield place
        if lost is not None:
            yield lost
        if difference.owner is not None:
            yield difference.owner[0].place
            yield from reversed(difference.owner[0].callers())
        made = getattr(difference.mine.value, "event", None) if difference.mine is not None else None
        if isinstance(made, Event):
            yield from reversed(made.callers())

    def _new_around(self, event: Event | None) -> Iterator[Location]:
        """The loops and conditions around it that the benchmark does not have, outermost first."""
        for scope in event.scopes if event is not None else ():
            if scope.kind in (LOOP, BRANCH):
                head = Location(scope.place.file, scope.place.line, scope.place.line)
                if self._is_changed(head):
                    yield head

    def _felt(self, difference: Difference) -> Location | None:
        """Where the want of something that is only done is felt: what is never stepped is built, say."""
        event = difference.bench.event if difference.bench is not None else None
        if difference.kind is not Kind.MISSING or difference.argument != "event" or event is None:
            return None
        if event.role is Role.SCHEDULER_STEP or word_of(event.name) == "setepoch":
            built = self._around.comparing.mine_of(event.receiver)
            return (
                built.event.place if isinstance(built, Made) else built.place if isinstance(built, Instance) else None
            )
        word = word_of(event.name)
        if word in ("loadstatedict", "loadparamintonet"):
            return self._read_for(event)
        if word == "assign":
            return self._last(event, Role.STEP)
        if word == "shuffle" and event.receiver is not None:
            return self._function_of(event)
        if event.role is Role.EVAL_MODE:
            return self._next(event, Role.FORWARD)
        if event.role is Role.ZERO_GRAD or word_of(event.name) == "distributeddataparallel":
            return self._next(event, Role.BACKWARD)
        if event.role is Role.TRAIN_MODE:
            step = self._next_event(event, Role.BACKWARD)
            loops = (
                [scope for scope in step.loops() if scope in self._around.mine.inner_loops] if step is not None else []
            )
            return Location(loops[0].place.file, loops[0].place.line) if loops else None
        return None

    def _read_for(self, event: Event) -> Location | None:
        """Where the script reads what it does not load."""
        for value in ancestry(*event.args, *event.kwargs.values(), most=12):
            mine = self._around.comparing.aligned.mine_of.get(id(value.event)) if isinstance(value, Made) else None
            if mine is not None and "load" in word_of(mine.name):
                return mine.place
        return None

    def _last(self, event: Event, role: Role) -> Location | None:
        for before in reversed(self._around.bench.script.trace.events[: event.index]):
            mine = self._around.comparing.aligned.mine_of.get(id(before))
            if before.role is role and mine is not None:
                return mine.place
        return None

    def _function_of(self, event: Event) -> Location | None:
        """The head of the function where something is not done any more."""
        lost = self._lost(event.place)
        versions = self._by_mine.get(lost.file) if lost is not None else None
        if lost is None or versions is None:
            return None
        heads = [
            node.lineno
            for node in ast.walk(versions.mine.tree)
            if isinstance(node, ast.FunctionDef) and node.lineno <= lost.line <= (node.end_lineno or node.lineno) + 1
        ]
        return Location(lost.file, max(heads), max(heads)) if heads else None

    def _next(self, event: Event, role: Role) -> Location | None:
        counterpart = self._next_event(event, role)
        return counterpart.place if counterpart is not None else None

    def _next_event(self, event: Event, role: Role) -> Event | None:
        """The script's event for the next one of a role in the benchmark."""
        for later in self._around.bench.script.trace.events[event.index :]:
            if later.role is role:
                mine = self._around.comparing.aligned.mine_of.get(id(later))
                if mine is not None:
                    return mine
        return None

    def _is_changed(self, place: Location) -> bool:
        versions = self._by_mine.get(place.file)
        if versions is None:
            return False
        return any(line in versions.changed for line in range(place.line, max(place.last, place.line) + 1))

    def _changed_before(self, place: Location) -> Location | None:
        versions = self._by_mine.get(place.file)
        if versions is None:
            return None
        line = next(
            (line for line in range(place.line, place.line - MAX_LINES_BEFORE, -1) if line in versions.changed), None
        )
        return Location(place.file, line, line) if line is not None else None

    def _is_deleted(self, place: Location | None) -> bool:
        """Whether nothing stands where a line of the benchmark's was."""
        versions = self._by_bench.get(place.file) if place is not None else None
        return versions is not None and place is not None and place.line in versions.deleted

    def _lost(self, place: Location) -> Location | None:
        """The line of the script where a line of the benchmark's was."""
        versions = self._by_bench.get(place.file)
        for line in range(place.line, max(place.last, place.line) + 1):
            if versions is not None and line in versions.moved:
                now = versions.moved[line]
                return Location(versions.mine.shown, now, now)
        return None


def _nearest(mine: SourceFile, bench_files: Sequence[SourceFile]) -> SourceFile | None:
    """The file of the benchmark's that has most lines in common; one of the same name before others."""
    own = {line.strip() for line in mine.text.splitlines()}

    def common(file: SourceFile) -> tuple[int, bool]:
        shared = len(own & {line.strip() for line in file.text.splitlines()})
        return shared, file.path.name == mine.path.name

    return max(bench_files, key=common, default=None)


def _versions(mine: SourceFile, file: SourceFile) -> _Versions | None:
    own, before = ([line.strip() for line in version.text.splitlines()] for version in (mine, file))
    matcher = SequenceMatcher(None, before, own, autojunk=False)
    changed: set[int] = set()
    rewritten: set[int] = set()
    moved: dict[int, int] = {}
    deleted: set[int] = set()
    same = 0
    for how, a, b, c, d in matcher.get_opcodes():
        if how == "equal":
            same += b - a
            continue
        changed.update(range(c + 1, d + 1))
        if max(b - a, d - c) > MAX_CHANGED_LINES:
            rewritten.update(range(c + 1, max(d, c + 1) + 1))
        if c == d:
            deleted.update(range(a + 1, b + 1))
        for line in range(a, b):
            # Beside the line that has taken its place, else where the next one stands.
            now = min(c + line - a, d - 1) if d > c else min(c, len(own) - 1)
            moved[line + 1] = now + 1
    if same < MIN_COMMON_SHARE * max(len(own), len(before), 1):
        return None
    return _Versions(mine, frozenset(changed), frozenset(rewritten), moved, frozenset(deleted))
