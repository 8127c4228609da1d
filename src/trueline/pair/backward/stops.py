"""Which stops of gradients one side has and the other has not: found by undoing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from trueline.model.location import Location
from trueline.pair.questions.blocks import Between, Undo

# More stops than this are tried line by line, more lines only all together.
_MAX_STOPS: Final = 6

Choice = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OtherStops:
    """Lines of the port that stop a gradient where the benchmark does not, and the other way round."""

    extra: Sequence[Location] = ()
    missing: Sequence[Location] = ()


def without_stops(
    port: Callable[[Undo], Between | None],
    bench: Callable[[Undo], Between | None],
    agree: Callable[[Between | None, Between | None], bool],
) -> OtherStops:
    """The fewest stops that make both agree once they are undone; nothing where none do.

    ``port`` and ``bench`` give gradients with some stops undone; ``agree`` takes the benchmark's and the port's, None
    standing for those with all stops in place.
    """
    ours, theirs = _Tries(port), _Tries(bench)
    choices = [(here, there) for here in ours.choices for there in theirs.choices if here or there]
    for here, there in sorted(choices, key=lambda choice: (len(choice[0]) + len(choice[1]), len(choice[1]))):
        tried = theirs.with_undone(there), ours.with_undone(here)
        if (there and tried[0] is None) or (here and tried[1] is None):
            continue
        if agree(*tried):
            return OtherStops(ours.lines(here), theirs.lines(there))
    return OtherStops()


class _Tries:
    """One side: its stops, what of them is undone together, and what came of it."""

    def __init__(self, run: Callable[[Undo], Between | None]) -> None:
        self._run = run
        everything = run("all")
        self._stops = list(everything.stops) if everything is not None else []
        self._known: dict[Choice, Between | None] = {(): None}
        self.choices = [(), *dict.fromkeys(self._choices())]

    def _choices(self) -> Iterator[Choice]:
        count = len(self._stops)
        by_line = [
            tuple(place for place, stop in enumerate(self._stops) if stop == line)
            for line in dict.fromkeys(self._stops)
        ]
        groups = [(place,) for place in range(count)] if count <= _MAX_STOPS else by_line
        if len(groups) <= _MAX_STOPS:
            yield from groups
            yield from (tuple(sorted(one + other)) for one, other in combinations(groups, 2))
        if count:
            yield tuple(range(count))

    def with_undone(self, choice: Choice) -> Between | None:
        """The gradients with these stops undone; None for none of them, or where that does not run."""
        if choice not in self._known:
            self._known[choice] = self._run(choice)
        return self._known[choice]

    def lines(self, choice: Choice) -> list[Location]:
        """The lines of these stops, each once."""
        return list(dict.fromkeys(self._stops[place] for place in choice))
