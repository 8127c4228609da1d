"""Whether a training has gone out of bounds for good, seen while it runs."""

from __future__ import annotations

import math
from statistics import median
from typing import Final

# The median of so many first losses is where training started.
_START_UPDATES: Final = 10
# So many times the whole gain above where it began, for so many steps.
_TIMES: Final = 3
_STEPS: Final = 3


class Divergence:
    """Listens to one loss after another."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._best = math.inf

    def shows(self, loss: float) -> bool:
        """Whether nothing more is to be learned from going on."""
        if not math.isfinite(loss):
            return len(self._losses) > 0
        self._losses.append(loss)
        if len(self._losses) < _START_UPDATES + _STEPS:
            return False
        start = median(self._losses[:_START_UPDATES])
        spread = max(self._losses[:_START_UPDATES]) - min(self._losses[:_START_UPDATES])
        last = self._losses[-_STEPS:]
        self._best = min(self._best, median(last))
        gain = max(start - self._best, spread, 0.01 * abs(start))
        return min(last) > start + _TIMES * gain
