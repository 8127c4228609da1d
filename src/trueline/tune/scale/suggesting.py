"""Which loss scale suits the gradients that were seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.tune.scale.seen import LARGEST, Seen
from trueline.tune.scale.shares import nearest_power

# Gradients of later steps may be larger than those that were seen.
_MARGIN: Final = 2
_HIGHEST: Final = 40
_LEAP: Final = 16
FACTOR: Final = 2.0
WINDOW: Final = 2000
_SHORTEST: Final = 20


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A scale as a power of two; for a scaler that adapts its factor and window as well."""

    power: int
    factor: float = FACTOR
    window: int = WINDOW

    @property
    def scale(self) -> float:
        """The scale itself."""
        return 2.0**self.power


def suggest(runs: Sequence[Seen]) -> Suggestion | None:
    """The largest scale at which nothing that was seen overflows, with a margin; None where nothing was seen."""
    known = [update for run in runs for update in run.updates if not update.own_fault]
    sizes = [update.largest for update in known if update.largest]
    limits = [math.floor(math.log2(LARGEST / max(sizes)))] if sizes else []
    # What was lost at a scale fits at half of that at best.
    limits += [math.floor(math.log2(update.scale)) - 1 for update in known if update.lost and update.scale > 0]
    if not known:
        return None
    # Where all is zero, all may have vanished.
    power = min(limits) - _MARGIN if limits else nearest_power(runs[-1].scale) + _LEAP
    return Suggestion(max(0, min(power, _HIGHEST)), window=_window(runs[0]))


def _window(run: Seen) -> int:
    """The usual one; but so short that a scale is back before the next update is lost, where many are by themselves."""
    window = run.scaler.window if run.scaler is not None else None
    count = len(run.after)
    if window is None or not count:
        return WINDOW
    # A scaler that has grown too far loses an update by that, once in a window.
    by_growing = math.ceil(count / (window + 1)) + 1
    lost = sum(update.lost for update in run.after) - by_growing
    return max(_SHORTEST, min(WINDOW, count // lost)) if lost > 0 else WINDOW
