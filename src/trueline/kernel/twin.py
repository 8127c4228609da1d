"""The native code's twin in NumPy: the same answers, chunk by chunk, slower."""

from __future__ import annotations

import math

import numpy as np

from trueline.kernel.array import Array
from trueline.kernel.chunks import BLOCK_BYTES, SEGMENT_BYTES, Elements, pieces
from trueline.kernel.dtypes import ITEM_SIZE, Kind
from trueline.kernel.state import DistanceState, RowStats, SummaryState, Tolerance
from trueline.kernel.twin_hash import finish_hash, hash_blocks
from trueline.kernel.twin_pairs import measure_pairs
from trueline.kernel.twin_values import widen

_PAIRS = SEGMENT_BYTES // 8


def summary_state(x: Elements, kind: int, scale: float, threads: int | None) -> SummaryState:  # noqa: ARG001
    """One array's numbers; the finite elements count times ``scale``."""
    total = SummaryState(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0)
    block = 0
    for piece in pieces(x, SEGMENT_BYTES // ITEM_SIZE[kind]):
        total = _join(total, _summarise_piece(piece, kind, scale, block))
        block += piece.nbytes // BLOCK_BYTES
    return total._replace(fingerprint=finish_hash(total.fingerprint, x.nbytes, kind))


def fingerprint(x: Elements, kind: int, threads: int | None) -> int:  # noqa: ARG001
    """The fingerprint alone."""
    total = block = 0
    for piece in pieces(x, SEGMENT_BYTES // ITEM_SIZE[kind]):
        total += hash_blocks(piece, block)
        block += piece.nbytes // BLOCK_BYTES
    return finish_hash(total, x.nbytes, kind)


def describe_rows(x: Array, kind: int) -> RowStats:
    """Every row's numbers."""
    rows = x.shape[0]
    fingerprints = np.zeros(rows, np.uint64)
    mean, std, minimum, maximum = np.zeros((4, rows), np.float32)
    with np.errstate(over="ignore"):
        for row in range(rows):
            found = summary_state(np.asarray(x[row]), kind, 1.0, 1)
            fingerprints[row] = found.fingerprint
            mean[row], minimum[row], maximum[row] = found.mean, found.minimum, found.maximum
            std[row] = math.sqrt(found.m2 / found.finite) if found.finite else 0.0
    return RowStats(fingerprints, mean, std, minimum, maximum)


def distance_state(
    a: Array,
    kind_a: int,
    b: Array,
    kind_b: int,
    by: Tolerance,
    threads: int | None,  # noqa: ARG001
) -> DistanceState:
    """Two arrays' numbers, element by element in C order."""
    total = DistanceState(0, 0, 0, 0, 0, 0, 0, -1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    offset = 0
    for left, right in zip(pieces(a, _PAIRS), pieces(b, _PAIRS), strict=True):
        part = measure_pairs(left, kind_a, right, kind_b, by)
        if part.worst >= 0:
            part = part._replace(worst=part.worst + offset)
        further = part if part.max_abs > total.max_abs else total
        sums = DistanceState._make(mine + its for mine, its in zip(total, part, strict=True))
        total = sums._replace(
            worst=further.worst,
            max_abs=further.max_abs,
            max_a=max(total.max_a, part.max_a),
            max_b=max(total.max_b, part.max_b),
        )
        offset += left.size
    return total


def _summarise_piece(piece: Array, kind: int, scale: float, block: int) -> SummaryState:
    values = widen(piece, kind)
    if kind in (Kind.C64, Kind.C128):
        with np.errstate(over="ignore"):
            values = np.hypot(values.real, values.imag)
    finite = np.isfinite(values)
    nan = pos_inf = neg_inf = 0
    if not finite.all():
        nan = int(np.count_nonzero(np.isnan(values)))
        pos_inf = int(np.count_nonzero(values == np.inf))
        neg_inf = int(np.count_nonzero(values == -np.inf))
        values = values[finite]
    count = values.size
    zeros, low, high, mean, m2, abs_sum = count - int(np.count_nonzero(values)), 0.0, 0.0, 0.0, 0.0, 0.0
    if count:
        with np.errstate(over="ignore", invalid="ignore"):
            values = values * scale if scale != 1.0 else values
            low, high = float(values.min()) + 0.0, float(values.max()) + 0.0
            abs_sum = float(np.abs(values).sum())
            moved = values - values[0]
            drift = float(moved.mean())
            mean = float(values[0]) + drift
            moved -= drift
            m2 = float(np.square(moved, out=moved).sum())
    return SummaryState(count, nan, pos_inf, neg_inf, zeros, low, high, mean, m2, abs_sum, hash_blocks(piece, block))


def _join(whole: SummaryState, part: SummaryState) -> SummaryState:
    sums = SummaryState._make(mine + its for mine, its in zip(whole, part, strict=True))
    if not part.finite or not whole.finite:
        return sums  # the numbers of the side without finite elements are all zero
    apart, share = part.mean - whole.mean, part.finite / sums.finite
    return sums._replace(
        minimum=min(whole.minimum, part.minimum),
        maximum=max(whole.maximum, part.maximum),
        mean=whole.mean + apart * share,
        m2=sums.m2 + apart * apart * whole.finite * share,
    )
