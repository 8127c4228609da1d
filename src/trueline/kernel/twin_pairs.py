"""The pairs of one piece, measured in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueline.kernel.array import Array
from trueline.kernel.dtypes import Kind
from trueline.kernel.state import DistanceState, Tolerance
from trueline.kernel.twin_values import widen

Doubles = NDArray[np.float64]


def measure_pairs(a: Array, kind_a: int, b: Array, kind_b: int, by: Tolerance) -> DistanceState:
    """The numbers of two pieces of equal length; ``worst`` counts from the piece's first element."""
    with np.errstate(over="ignore", invalid="ignore"):
        if max(kind_a, kind_b) in (Kind.I64, Kind.U64):
            return _measure_integers(a, kind_a, b, kind_b, by)
        return _measure_floats(widen(a, kind_a), widen(b, kind_b), by)


def _size(x: Array) -> Doubles:
    return np.hypot(x.real, x.imag) if x.dtype.kind == "c" else np.abs(x)


def _measure_floats(a: Array, b: Array, by: Tolerance) -> DistanceState:
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    both = finite_a & finite_b
    same = other = 0
    places = None
    if not both.all():
        same = int(np.count_nonzero(((np.isnan(a) & np.isnan(b)) | (a == b)) & ~both))
        other = int(np.count_nonzero(~both)) - same
        places = np.flatnonzero(both)
        a, b = a[both], b[both]
    difference = a - b
    apart, equal = _size(difference), int(np.count_nonzero(difference == 0))
    if by.scale_d:
        halves = _size(a * 0.25 - b * 0.25) * (by.scale_d * 4)
        apart = np.where(np.isinf(apart), halves, apart * by.scale_d)
    state = _collect(a, b, apart, _size(a), _size(b), equal, by)
    worst = int(places[state.worst]) if places is not None and state.worst >= 0 else state.worst
    return state._replace(
        non_finite_a=int(np.count_nonzero(~finite_a)),
        non_finite_b=int(np.count_nonzero(~finite_b)),
        same=same,
        other=other,
        worst=worst,
    )


def _measure_integers(a: Array, kind_a: int, b: Array, kind_b: int, by: Tolerance) -> DistanceState:
    """Doubles cannot tell 64-bit integers apart beyond 2^53, so these are subtracted as integers."""
    negative_a, size_a = _integers(a, kind_a)
    negative_b, size_b = _integers(b, kind_b)
    wide_a, wide_b = size_a.astype(np.float64), size_b.astype(np.float64)
    gap = np.where(size_a > size_b, size_a - size_b, size_b - size_a).astype(np.float64)
    apart = np.where(negative_a == negative_b, gap, wide_a + wide_b)
    signed_a, signed_b = np.where(negative_a, -wide_a, wide_a), np.where(negative_b, -wide_b, wide_b)
    return _collect(signed_a, signed_b, apart, wide_a, wide_b, int(np.count_nonzero(apart == 0)), by)


def _integers(x: Array, kind: int) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    if kind == Kind.BOOL:
        x = (x.view(np.uint8) != 0).astype(np.uint8)
    negative = x < 0
    bits = x.astype(np.uint64)
    return negative, np.where(negative, np.uint64(0) - bits, bits)


def _collect(
    a: Array, b: Array, apart: Doubles, size_a: Doubles, size_b: Doubles, equal: int, by: Tolerance
) -> DistanceState:
    if not a.size:
        return DistanceState(0, 0, 0, 0, 0, 0, 0, -1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    within = int(np.count_nonzero(apart <= by.atol + by.rtol * size_b))
    if by.scale_d:
        a, b = a * by.scale_a, b * by.scale_b
    worst = int(apart.argmax())
    furthest = float(apart[worst])
    product = (a * b.conj()).real if a.dtype.kind == "c" or b.dtype.kind == "c" else a * b
    return DistanceState(
        a.size,
        0,
        0,
        0,
        0,
        equal,
        within,
        worst if furthest > 0 else -1,
        furthest,
        float(apart.sum()),
        float(np.square(apart).sum()),
        _squares(a),
        _squares(b),
        float(product.sum()),
        float(size_a.max()),
        float(size_b.max()),
    )


def _squares(x: Array) -> float:
    if x.dtype.kind == "c":
        return float((np.square(x.real) + np.square(x.imag)).sum())
    return float(np.square(x).sum())
