"""What the lines of a log said, kept small until the curves are made of it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Final

import numpy as np

from trueline.formats.log.running import NONE, in_order, running_steps
from trueline.model.curve import Curve

MOST_CURVES: Final = 200
LARGEST: Final = 1 << 50


class Rows:
    """Lines with their counters, and the scalars of each."""

    def __init__(self) -> None:
        self._epochs = array("q")
        self._steps = array("q")
        self._totals = array("q")
        self._ranks = array("i")
        self._scalars: dict[str, tuple[array[int], array[float]]] = {}

    def add(
        self,
        scalars: Iterable[tuple[str, float]],
        *,
        epoch: int = NONE,
        step: int = NONE,
        total: int = NONE,
        rank: int = NONE,
    ) -> None:
        """Keep a line."""
        row = len(self._steps)
        self._epochs.append(epoch if epoch < LARGEST else NONE)
        self._steps.append(step if step < LARGEST else NONE)
        self._totals.append(total if total < LARGEST else NONE)
        self._ranks.append(rank)
        for name, value in scalars:
            kept = self._kept(name)
            if kept is not None:
                kept[0].append(row)
                kept[1].append(value)

    def extend(
        self,
        count: int,
        scalars: Iterable[tuple[str, Iterable[float]]],
        *,
        epochs: Iterable[int],
        steps: Iterable[int],
        totals: Iterable[int],
        ranks: Iterable[int],
    ) -> None:
        """Keep ``count`` lines of the same kind, given by columns."""
        row = len(self._steps)
        self._epochs.extend(epochs)
        self._steps.extend(steps)
        self._totals.extend(totals)
        self._ranks.extend(ranks)
        for name, values in scalars:
            kept = self._kept(name)
            if kept is not None:
                kept[0].extend(range(row, row + count))
                kept[1].extend(values)

    def _kept(self, name: str) -> tuple[array[int], array[float]] | None:
        kept = self._scalars.get(name)
        if kept is None and len(self._scalars) < MOST_CURVES:
            kept = self._scalars[name] = (array("I"), array("d"))
        return kept

    def curves(self) -> list[Curve]:
        """A curve for each scalar, in the order they were first seen."""
        return [self._curve(name) for name in self._scalars]

    def _curve(self, name: str) -> Curve:
        places, kept = self._scalars[name]
        rows = np.frombuffer(places, np.uint32)
        values = np.frombuffer(kept, np.float64)
        ranks = np.frombuffer(self._ranks, np.int32)[rows]
        named = ranks[ranks != NONE]
        if len(named):
            chosen = ranks == named.min()
            rows, values = rows[chosen], values[chosen]
        counters = (np.frombuffer(counted, np.int64)[rows] for counted in (self._epochs, self._steps, self._totals))
        steps = running_steps(*counters)
        order = in_order(steps)
        return Curve(name, steps[order].tolist(), values[order].tolist())


def counter(text: str | bytes | float | None) -> int:
    """A counter's value, NONE for what is no whole number."""
    try:
        number = float(text) if text is not None else math.nan
    except (ValueError, OverflowError):
        return NONE
    return int(number) if number.is_integer() and 0 <= number < LARGEST else NONE
