"""What is kept of many values in little memory: some of them at random, and how many different ones there were."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.described import Told
from trueline.data.describing.wanted import QUANTILES
from trueline.kernel.array import Array

Numbers = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
# Up to so many values all are kept.
KEPT: Final = 200_000
_DISTINCT: Final = 16_384
_WHOLE: Final = 2.0**64
# Squares of larger numbers, or sums of these, may be too large for a float.
_MAX_SQUARED: Final = 1e140
_BELOW: Final = 1 - 2.0**-53
# Texts so long, and fields with so many different values for each sample, do not repeat by chance.
_LONG, _RICH = 16, 0.5


class Reservoir:
    """Some of the numbers that went by, each as likely as any other; the same ones every time."""

    def __init__(self) -> None:
        self._kept = np.empty(0)
        self._random = np.random.default_rng(0)
        self.seen = 0

    def add(self, values: Array) -> None:
        """More numbers."""
        room = KEPT - len(self._kept)
        if room > 0:
            self._kept = np.concatenate([self._kept, values[:room].astype(np.float64)])
        later = values[max(0, room) :]
        if len(later):
            ordinal = self.seen + max(0, room) + 1 + np.arange(len(later))
            chosen = np.flatnonzero(self._random.random(len(later)) * ordinal < KEPT)
            self._kept[self._random.integers(0, KEPT, len(chosen))] = later[chosen]
        self.seen += len(values)

    @property
    def values(self) -> Numbers:
        """Those that were kept."""
        return self._kept

    @property
    def sampled(self) -> int | None:
        """How many were kept, where that is not all."""
        return len(self._kept) if self.seen > len(self._kept) else None


class Distinct:
    """How many different values there were: counted while they are few, estimated from the least hashes beyond."""

    def __init__(self) -> None:
        self._least = np.empty(0, np.uint64)
        self.estimated = False

    def add(self, hashes: Hashes) -> None:
        """The hashes of more values."""
        if self.estimated and len(self._least):
            hashes = hashes[hashes < self._least[-1]]
        if len(hashes):
            merged = np.union1d(self._least, hashes)
            self.estimated = self.estimated or len(merged) > _DISTINCT
            self._least = merged[:_DISTINCT]

    @property
    def count(self) -> int:
        """How many, at least about."""
        if not self.estimated:
            return len(self._least)
        return round((_DISTINCT - 1) / (float(self._least[-1]) / _WHOLE))


def hash_numbers(values: Array) -> Hashes:
    """A hash of each number; equal numbers of any type have equal ones."""
    with np.errstate(over="ignore"):
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
            large = np.abs(values.astype(np.float64)) >= 2.0**53
            words = np.where(large, values.view(np.uint64), (values.astype(np.float64) + 0.0).view(np.uint64))
        else:
            words = (values.astype(np.float64) + 0.0).view(np.uint64)
        return _mixed(words)


def _mixed(words: Hashes) -> Hashes:
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def combined(first: Hashes, second: Hashes) -> Hashes:
    """One hash of two, in this order."""
    with np.errstate(over="ignore"):
        return _mixed(first * np.uint64(0xD6E8FEB86659FD93) ^ second)


def hash_bytes(content: bytes) -> int:
    """A hash of some bytes."""
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def hash_texts(texts: Sequence[str]) -> Hashes:
    """A hash of each text."""
    return np.fromiter((hash_bytes(text.encode("utf-8", "surrogatepass")) for text in texts), np.uint64, len(texts))


def mean_and_spread(values: Array) -> tuple[float, float]:
    """Of finite numbers; those whose sum or squares a float cannot hold are made smaller for it."""
    if values.dtype.kind != "f" or max(abs(float(values.min())), abs(float(values.max()))) < _MAX_SQUARED:
        return float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))
    power = int(np.frexp(np.abs(values).max())[1])
    small = np.ldexp(values, -power).astype(np.float64)
    return _enlarged(float(small.mean()), power), _enlarged(float(small.std()), power)


def _enlarged(value: float, power: int) -> float:
    # Rounding may bring it past the largest float, and long doubles go further.
    if value and power > sys.float_info.max_exp:
        return math.copysign(math.inf, value)
    return math.ldexp(max(-_BELOW, min(_BELOW, value)), power)


def quantiles_of(values: Numbers) -> dict[str, float]:
    """The quantiles that are told."""
    if not len(values):
        return {}
    # Half of them, so that no difference of two is too large.
    found = (
        2.0 * np.quantile(values / 2, QUANTILES)
        if np.abs(values).max() > _MAX_SQUARED
        else np.quantile(values, QUANTILES)
    )
    return {f"{share:g}": float(value) for share, value in zip(QUANTILES, found, strict=True)}


def by_chance(fields: Sequence[Told], samples: int) -> float:
    """How many samples would have the content of an earlier one if all values came independently."""
    space = 1.0
    for field in fields:
        long = field.kind == "text" and field.lengths is not None and field.lengths.mean >= _LONG
        if field.distinct is None or long or field.distinct > _RICH * samples:
            return 0.0
        space = min(1e300, space * max(1, field.distinct))
    return min(float(samples), samples * (samples - 1) / 2 / space)
