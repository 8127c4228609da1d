"""Operators that a framework computes more coarsely than its number format."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from trueline.kernel.array import Array
from trueline.pair.sides.side import Side

# MindSpore's tanh on CPU is off by up to 1e-4 of its scale, which no moved rounding shows.
_COARSE: Final = {"mindspore": ("tanh", 3e-4)}


def coarse_kinds(*frameworks: str) -> dict[str, float]:
    """The operators that one of these computes more coarsely than its format, and how far off they may be."""
    return dict(_COARSE[framework] for framework in frameworks if framework in _COARSE)


class Coarse:
    """What such operators of two sides explain; they are looked for only where it matters."""

    def __init__(self, sides: tuple[Side, Side], frameworks: tuple[str, str], inputs: Sequence[Array]) -> None:
        pairs = enumerate(zip(sides, frameworks, strict=True))
        self._asked = [(at, side, *_COARSE[framework]) for at, (side, framework) in pairs if framework in _COARSE]
        self._inputs = inputs
        self._limit = max((off for *_, off in self._asked), default=0.0)
        self._used: dict[int, Mapping[str, Sequence[str]]] = {}

    @property
    def possible(self) -> bool:
        """Whether a side's framework has any."""
        return bool(self._asked)

    def explained(self, level: float, paths: tuple[str, str] = ("", ""), without: Collection[str] = ()) -> float:
        """How far apart they may bring what is so far apart: nothing where that is too far, or none takes part.

        ``paths`` are the modules in which one has to be, the benchmark's and the port's, but for those of ``without``,
        which are judged by themselves.
        """
        if not level <= self._limit:
            return 0.0
        found = [
            off
            for place, side, name, off in self._asked
            if any(name in names for names in self._in(place, side, paths[place], without))
        ]
        return max(found, default=0.0)

    def _in(self, place: int, side: Side, above: str, without: Collection[str]) -> Iterator[Sequence[str]]:
        """The operators of each module from one down."""
        if place not in self._used:
            self._used[place] = side.ops(self._inputs)
        for path, names in self._used[place].items():
            inside = not above or path == above or path.startswith(f"{above}.")
            apart = any(path == other or path.startswith(f"{other}.") for other in without if other != above)
            if inside and not apart:
                yield names
