"""The numbers of a field, gathered chunk by chunk: range, mean, what is not finite, and what may be a marker."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trueline.data.described import Missing
from trueline.data.describing import markers
from trueline.data.describing.sampling import Distinct, Reservoir, hash_numbers, mean_and_spread, quantiles_of
from trueline.data.describing.wanted import NAMED_SAMPLES, Wanted
from trueline.kernel.array import Array

Indexes = npt.NDArray[np.int64]
# Of a chunk with more elements than this, only some are kept for quantiles.
_THINNED = 1 << 18
# Each of so many single bytes takes sixteen where mean and spread are made, and the sample of each is told.
_AT_ONCE = 1 << 19
_FAR_APART = 1e300


class Places:
    """How often something was there, and in which samples first."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []

    def add(self, count: int, index: Indexes) -> None:
        """More of it, in these samples."""
        self.count += count
        # A large sample comes in parts.
        if self.first and len(index) and index[0] == self.first[-1]:
            index = index[1:]
        self.first += index[: NAMED_SAMPLES - len(self.first)].tolist()


class Moments:
    """Count, mean and spread (the population's) of numbers that come in parts, however large they are."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.std = 0.0

    def add(self, count: int, mean: float, std: float) -> None:
        """One more part."""
        if not count:
            return
        both = self.count + count
        share = count / both
        # Halves, because two numbers may be further apart than the largest one is from 0.
        half = mean / 2 - self.mean / 2
        between = half * (2 * math.sqrt(share * (1 - share)))
        self.std = math.hypot(self.std * math.sqrt(1 - share), std * math.sqrt(share), between)
        self.mean = self.mean * (1 - share) + mean * share if abs(half) > _FAR_APART else self.mean + 2 * half * share
        self.count = both


class NumberGatherer:
    """Numbers, or arrays of numbers, one a sample."""

    def __init__(self, wanted: Wanted) -> None:
        self._given = {text: (value, Places()) for value, text in wanted.numbers.items() if math.isfinite(value)}
        self._odd = {"nan": Places(), "+inf": Places(), "-inf": Places()}
        self._candidates = {value: Places() for value in markers.NUMBERS}
        self._others: tuple[float, float] | None = None
        self.moments = Moments()
        self.low, self.high = math.inf, -math.inf
        self.reservoir = Reservoir()
        self.distinct = Distinct()
        self.fractions = False
        self.scalars = True

    def add(self, values: Array, index: Indexes) -> None:
        """Some samples' numbers, samples along the first axis."""
        many = max(1, _AT_ONCE * len(values) // max(1, values.size))
        if len(values) > many:
            for start in range(0, len(values), many):
                self.add(values[start : start + many], index[start : start + many])
            return
        if values.size > 2 * _AT_ONCE:
            flat = values.reshape(1, -1)
            for start in range(0, flat.size, _AT_ONCE):
                self.add(flat[:, start : start + _AT_ONCE], index)
            return
        self.scalars = self.scalars and values.ndim == 1
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        values, flat_index = self._without_odd(values, index)
        for value, places in self._given.values():
            same = values == value
            if same.any():
                places.add(int(same.sum()), np.unique(flat_index[same]))
                values, flat_index = values[~same], flat_index[~same]
        if not values.size:
            return
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        self.moments.add(values.size, *mean_and_spread(values))
        if values.dtype.kind == "f" and not self.fractions:
            self.fractions = bool((values != np.floor(values)).any())
        self.reservoir.add(values if values.size <= _THINNED else values[:: values.size // _THINNED + 1])
        if self.scalars:
            self.distinct.add(hash_numbers(values))
        self._look_for_markers(values, flat_index)

    def _without_odd(self, values: Array, index: Indexes) -> tuple[Array, Indexes]:
        """Flat and finite, with the sample of each."""
        per_sample = values[0].size if len(values) else 1
        flat = values.reshape(-1)
        finite = np.isfinite(flat) if flat.dtype.kind == "f" else np.ones(0, bool)
        if flat.dtype.kind != "f" or finite.all():
            spread = index if per_sample == 1 else np.broadcast_to(index[:, None], (len(index), per_sample)).reshape(-1)
            return flat, spread
        spread = np.repeat(index, per_sample)
        for kind, chosen in (("nan", np.isnan(flat)), ("+inf", flat == np.inf), ("-inf", flat == -np.inf)):
            self._odd[kind].add(int(chosen.sum()), np.unique(spread[chosen]))
        return flat[finite], spread[finite]

    def _look_for_markers(self, values: Array, index: Indexes) -> None:
        """Take away what may be a marker from both ends: inside of the others' range nothing can be one."""
        low, high = float(values.min()), float(values.max())
        while len(values) and (low in self._candidates or high in self._candidates):
            value = low if low in self._candidates else high
            same = values == value
            self._candidates[value].add(int(same.sum()), np.unique(index[same]))
            values, index = values[~same], index[~same]
            if len(values):
                low, high = float(values.min()), float(values.max())
        if len(values):
            known = self._others or (low, high)
            self._others = min(known[0], low), max(known[1], high)

    def missing(self, *, guess: bool, but: float | None = None) -> list[Missing]:
        """What is not finite, given markers, and where it may be guessed, numbers that look like markers.

        ``but`` is a number that is none, because it fills sequences up.
        """
        found = [Missing(kind, places.count, places.first) for kind, places in self._odd.items() if places.count]
        found += [
            Missing("marker", places.count, places.first, text)
            for text, (_, places) in self._given.items()
            if places.count
        ]
        if guess:
            counts = {value: places.count for value, places in self._candidates.items() if value != but}
            for value in markers.guess(counts, self._spread()):
                places = self._candidates[value]
                found.append(Missing("marker", places.count, places.first, _short(value), guessed=True))
        return found

    def _spread(self) -> markers.Spread | None:
        if self._others is None:
            return None
        different = self.distinct.count if self.scalars else len(np.unique(self.reservoir.values))
        return markers.Spread(*self._others, self.moments.count, different, self.fractions)

    @property
    def is_mask(self) -> bool:
        """Whether there are only one or two different numbers."""
        return len(np.unique(self.reservoir.values)) <= 2

    def quantiles(self) -> dict[str, float]:
        """Of finite numbers, without given markers."""
        return quantiles_of(self.reservoir.values)


def _short(value: float) -> int | float:
    return int(value) if value.is_integer() else value
