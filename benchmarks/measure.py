"""Callables measured side by side: interleaved, because the machine is shared and drifts."""

from __future__ import annotations

import random
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


def ratios_to_first(steps: Mapping[str, Callable[[], float]], *, repeat: int, warmup: int = 5) -> Ratios:
    """Steps that tell their own seconds, in turns of changing order; each against the first one's of the same turn."""
    names = list(steps)
    for name in names:
        for _ in range(warmup):
            steps[name]()
    found: dict[str, list[float]] = {name: [] for name in names[1:]}
    first: list[float] = []
    for turn in range(repeat):
        shift = turn % len(names)
        spent = {name: steps[name]() for name in names[shift:] + names[:shift]}
        first.append(spent[names[0]])
        for name in names[1:]:
            found[name].append(spent[name] / spent[names[0]])
    return Ratios(statistics.median(first), {name: _with_interval(taken) for name, taken in found.items()})


@dataclass(frozen=True, slots=True)
class Ratios:
    """The first one's median seconds, and the others' ratios to it with the 95 % interval of the median."""

    first: float
    to_first: Mapping[str, Sample]


def _with_interval(taken: list[float], draws: int = 400) -> Sample:
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(taken, k=len(taken))) for _ in range(draws))
    return Sample(statistics.median(taken), medians[int(draws * 0.025)], medians[int(draws * 0.975)])


def print_ratios(net: str, found: Ratios, limits: Mapping[str, float]) -> list[str]:
    """Print a row for each; what missed its limit is returned."""
    missed = []
    for name, one in found.to_first.items():
        limit = limits.get(name)
        shown = f"{limit:.2f}" if limit is not None else ""
        print(
            f"{net:12} {name:13} {one.median:6.3f}  {one.low:6.3f} – {one.high:6.3f}  {shown:>5}"
            f"  {found.first * 1e3:8.1f} ms",
            flush=True,
        )
        if limit is not None and one.median > limit:
            missed.append(f"{net} {name}: {one.median:.3f} > {limit}")
    return missed


RATIO_HEADER = f"{'net':12} {'recording':13} {'ratio':>6}  {'95 % interval':>15}  {'limit':>5}  {'plain step':>11}"
