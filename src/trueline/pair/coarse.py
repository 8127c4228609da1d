"""Operators that a framework computes more coarsely than its number format."""

from __future__ import annotations

from collections.abc import Sequence
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
        pairs = zip(sides, frameworks, strict=True)
        self._asked = [(side, *_COARSE[framework]) for side, framework in pairs if framework in _COARSE]
        self._inputs = inputs
        self._limit = max((off for _, _, off in self._asked), default=0.0)
        self._level: float | None = None

    @property
    def possible(self) -> bool:
        """Whether a side's framework has any."""
        return bool(self._asked)

    def explained(self, level: float) -> float:
        """How far apart they may bring what is so far apart: nothing where that is too far, or none takes part."""
        if not level <= self._limit:
            return 0.0
        if self._level is None:
            used = [off for side, name, off in self._asked if name in side.ops(self._inputs)]
            self._level = max(used, default=0.0)
        return self._level
