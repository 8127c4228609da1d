"""Running averages of norms, to tell one that jumps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from trueline.watch.points.conditions import Broken, Limits

_ENTRY_BYTES: Final = 256


@dataclass(slots=True)
class _Average:
    count: int = 0
    mean: float = 0.0


class Averages:
    """The average of all finite values so far, by name."""

    def __init__(self) -> None:
        self._held: dict[str, _Average] = {}

    def bytes(self) -> int:
        """How much memory they take."""
        return _ENTRY_BYTES * len(self._held)

    def broken(self, name: str, value: float, limits: Limits) -> Broken | None:
        """A value too far above the average of those before it; the first few are not judged."""
        held = self._held.get(name)
        if held is None or held.count < max(1, limits["after"]):
            return None
        if not value > (1 + limits["over"]) * held.mean:
            return None
        return {"value": value, "average": held.mean}, {"over": limits["over"]}

    def add(self, name: str, value: float) -> None:
        """Take a value into the average; Inf and NaN would stay in it for ever."""
        if not math.isfinite(value):
            return
        held = self._held.setdefault(name, _Average())
        held.count += 1
        held.mean += (value - held.mean) / held.count
