"""Which stops of gradients one side has and the other has not, told by what each gradient reaches.

Where values differ, gradients do too. Which value a gradient comes back to from where does not depend on them, nor does
whether a stop has any part in that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.backward.block_gradients import level_of, size_of
from trueline.pair.questions.blocks import Between, Undo

# A gradient this much smaller than the largest from the same place is rounding; one that moves less has not moved.
_ROUNDING_SHARE: Final = 1e-3
# From more places than this gradients are not looked at one by one.
_MOST_SINKS: Final = 64

# Where a gradient comes from (what comes out of a block), and where it comes back to.
Way = tuple[str, str]


class Pull(Protocol):
    """One side's gradients with some stops undone, from some of what comes out; None where that does not run."""

    def __call__(self, undo: Undo, only: Sequence[str], *, watched: bool = False) -> Between | None: ...


@dataclass(frozen=True, slots=True)
class OneSided:
    """A line of one side that stops the gradient at ``value``, where the other side stops none."""

    line: Location
    value: str
    of_port: bool


@dataclass(frozen=True, slots=True)
class _Effect:
    """The ways that some stops change, and those of them that they close."""

    changed: frozenset[Way]
    closed: frozenset[Way]


def stops_by_reach(
    bench: Pull,
    port: Pull,
    sinks: Sequence[str],
    wrote_backward: Callable[[bool], bool],
) -> list[OneSided]:
    """The stops of either side on ways that the other has open, and stops nothing on.

    ``wrote_backward`` says of the port (True) or the benchmark whether a backward of the user's own is at work.
    """
    if len(sinks) > _MOST_SINKS:
        return []
    there, here = _Reach(bench, sinks), _Reach(port, sinks)
    return [
        *(OneSided(line, value, True) for line, value in _extra(here, there, lambda: wrote_backward(False))),
        *(OneSided(line, value, False) for line, value in _extra(there, here, lambda: wrote_backward(True))),
    ]


def _extra(side: _Reach, other: _Reach, wrote_backward: Callable[[], bool]) -> Iterator[tuple[Location, str]]:
    """The lines of a side on which it stops what the other does not, each with a value that gets no gradient."""
    if not side.is_effective or other.ends_otherwise:
        return
    for lines in side.groups:
        effect = side.effect(lines)
        known = {way for way in effect.changed if way in other.ways}
        free = {way for way in known if other.is_open(way)} - other.whole.changed
        closed = known & effect.closed
        if any(not other.is_open(way) for way in closed):
            # What the other side has no way for: it takes something else there.
            continue
        told = closed & free
        if not closed and known and known == free and not wrote_backward():
            # The value has other ways as well: its gradient is only smaller.
            told = known
        if told:
            value = next(source for sink, source in side.in_order if (sink, source) in told)
            yield from ((line, value) for line in lines)


class _Reach:
    """One side: from each place where values come out, what a gradient comes back to."""

    def __init__(self, pull: Pull, sinks: Sequence[str]) -> None:
        self._pull, self._sinks = pull, sinks
        everything = pull("all", sinks, watched=True)
        self._stops = list(everything.stops) if everything is not None else []
        self._all, self._failed = everything, everything is None
        self._known: dict[tuple[Undo, str], Between | None] = {}

    @property
    def ends_otherwise(self) -> bool:
        """Whether gradients end here where nothing of the user's stops them: a library's stop, a value in NumPy."""
        return self._all is None or bool(self._all.ends)

    @cached_property
    def is_effective(self) -> bool:
        """Whether the stops together change any gradient."""
        before = self._pull((), self._sinks) if self._stops else None
        return before is not None and self._all is not None and bool(_moved(before, self._all))

    @cached_property
    def ways(self) -> frozenset[Way]:
        """All that there may be a gradient for."""
        return frozenset(self.in_order)

    @cached_property
    def in_order(self) -> list[Way]:
        """The same, in order."""
        found = ((sink, self._at((), sink)) for sink in self._sinks)
        return [(sink, name) for sink, between in found if between is not None for name in between.gradients]

    def is_open(self, way: Way) -> bool:
        """Whether a gradient comes back that way, stops as they are."""
        between = self._at((), way[0])
        return between is not None and size_of(between.gradients.get(way[1])) > 0.0

    @cached_property
    def whole(self) -> _Effect:
        """What all stops together do."""
        return self._effect("all", self._sinks) if self.is_effective else _Effect(frozenset(), frozenset())

    @cached_property
    def groups(self) -> list[tuple[Location, ...]]:
        """Lines that stop something by themselves, each alone; then those that do so only together."""
        lines = list(dict.fromkeys(self._stops))
        alone: list[tuple[Location, ...]] = [(line,) for line in lines if self.effect((line,)).changed]
        done = {way for group in alone for way in self.effect(group).changed}
        rest = tuple(line for line in lines if (line,) not in alone)
        return [*alone, rest] if rest and self.whole.changed - done else alone

    def effect(self, lines: Sequence[Location]) -> _Effect:
        """What the stops on some lines do."""
        places = tuple(place for place, line in enumerate(self._stops) if line in lines)
        affected = {sink for sink, _ in self.whole.changed}
        return self._effect(places, [sink for sink in self._sinks if sink in affected])

    def _effect(self, undo: Undo, sinks: Sequence[str]) -> _Effect:
        changed: set[Way] = set()
        closed: set[Way] = set()
        for sink in sinks:
            before, after = self._at((), sink), self._at(undo, sink)
            if before is None or after is None:
                continue
            moved = _moved(before, after)
            changed |= {(sink, name) for name in moved}
            closed |= {(sink, name) for name in moved if not size_of(before.gradients[name])}
        return _Effect(frozenset(changed), frozenset(closed))

    def _at(self, undo: Undo, sink: str) -> Between | None:
        key = (undo if undo == "all" else tuple(undo), sink)
        if key not in self._known:
            self._known[key] = self._pull(undo, [sink])
        return self._known[key]


def _moved(before: Between, after: Between) -> list[str]:
    sizes: list[Array | None] = [*before.gradients.values(), *after.gradients.values()]
    least = _ROUNDING_SHARE * max(map(size_of, sizes), default=0.0)
    names = [name for name in before.gradients if name in after.gradients]
    return [name for name in names if level_of(after.gradients[name], before.gradients[name], least) > _ROUNDING_SHARE]
