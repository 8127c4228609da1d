"""How many elements of an array are of which size: their binary exponents, counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trueline.kernel.array import Array, DType
from trueline.kernel.chunks import Elements, pieces

_BIAS = 127
_INFINITE = 255
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Exponents:
    """``counts[e + 127]`` elements lie in [2^e, 2^(e+1)); zeros, and what is not finite, are counted apart.

    ``largest`` is the largest finite magnitude.
    """

    counts: NDArray[np.int64]
    zeros: int
    nonfinite: int
    largest: float

    @classmethod
    def none(cls) -> Self:
        """Of nothing."""
        return cls(np.zeros(_INFINITE, np.int64), 0, 0, 0.0)

    @property
    def total(self) -> int:
        """How many elements there are."""
        return int(self.counts.sum()) + self.zeros + self.nonfinite

    def __add__(self, other: Exponents) -> Exponents:
        return Exponents(
            self.counts + other.counts,
            self.zeros + other.zeros,
            self.nonfinite + other.nonfinite,
            max(self.largest, other.largest),
        )

    def by_exponent(self) -> dict[int, int]:
        """The counts that are not 0, by exponent."""
        return {int(place) - _BIAS: int(self.counts[place]) for place in np.flatnonzero(self.counts)}


def count_exponents(x: Elements, *, divided_by: float = 1.0) -> Exponents:
    """The exponents of what the elements are once divided by a positive number; in single precision."""
    mantissa, power = math.frexp(divided_by)
    # Dividing by a power of two only moves the exponents.
    factor = np.float32(0.5 / mantissa)
    found = Exponents.none()
    for piece in pieces(x, _PIECE):
        # A view of bfloat16's bits comes as integers.
        single = _single(piece, x.dtype)
        found = found + _count(single if factor == 1 else single * factor)
    return _moved(found, 1 - power)


def _single(piece: Array, dtype: DType) -> NDArray[np.float32]:
    if dtype.name == "bfloat16":
        return (piece.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(piece, np.float32)


def _count(single: NDArray[np.float32]) -> Exponents:
    fields = ((single.view(np.uint32) >> np.uint32(23)) & np.uint32(_INFINITE)).astype(np.intp)
    counts = np.bincount(fields, minlength=_INFINITE + 1)
    zeros = single.size - int(np.count_nonzero(single))
    magnitudes = np.abs(single)
    nonfinite = int(counts[_INFINITE])
    if nonfinite:
        magnitudes = magnitudes[np.isfinite(magnitudes)]
    counts = counts[:_INFINITE].astype(np.int64)
    # Single precision's own subnormals share their field with zeros.
    counts[0] -= zeros
    return Exponents(counts, zeros, nonfinite, float(magnitudes.max(initial=0.0)))


def _moved(found: Exponents, places: int) -> Exponents:
    """Times 2^places; what leaves the range is kept at its ends."""
    if not places:
        return found
    last = len(found.counts) - 1
    counts = np.zeros_like(found.counts)
    np.add.at(counts, np.clip(np.arange(last + 1) + places, 0, last), found.counts)
    return Exponents(counts, found.zeros, found.nonfinite, math.ldexp(found.largest, places))
