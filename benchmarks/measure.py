"""Callables measured side by side: interleaved, because the machine is shared and drifts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """The median of the measured seconds and the quartiles around it."""

    median: float
    low: float
    high: float


def interleave(
    calls: Mapping[str, Callable[[], object]],
    *,
    repeat: int = 7,
    warmup: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Sample]:
    """Run every callable once per round, round after round; the clock may be any of time's."""
    for _ in range(warmup):
        for call in calls.values():
            call()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            start = clock()
            call()
            seconds[name].append(clock() - start)
    return {name: _sample(taken) for name, taken in seconds.items()}


def _sample(taken: list[float]) -> Sample:
    ordered = sorted(taken)
    quarter = len(ordered) // 4
    return Sample(statistics.median(ordered), ordered[quarter], ordered[-1 - quarter])
