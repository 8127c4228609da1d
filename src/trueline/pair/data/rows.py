"""Samples of two pipelines matched with each other; sequences of numbers and labels that differ in a known way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.blame import Cause
from trueline.pair.data.forms import Relation, Wide, channel_axis

_COARSE: Final = 8
_SURE: Final = 0.9


def matched(port: Sequence[Array], bench: Sequence[Array]) -> list[int | None]:
    """For each of the port's samples the benchmark's that is the same picture or sequence, however it was prepared."""
    here, there = ([_mark(array, ends) for array in side] for side, ends in _with_ends(port, bench))
    if len({len(array) for array in (*here, *there)}) > 1:
        # Samples of different sizes that are no images: taken in order.
        return list(range(len(port))) if len(port) == len(bench) else [None] * len(port)
    likeness = np.stack(here) @ np.stack(there).T
    found: list[int | None] = []
    for place, row in enumerate(likeness):
        best = int(np.argmax(row))
        if place < len(row) and row[place] >= row[best] - 1e-6:
            best = place
        found.append(best if row[best] > _SURE else None)
    return found


def _with_ends(port: Sequence[Array], bench: Sequence[Array]) -> Iterator[tuple[Sequence[Array], frozenset[int]]]:
    """Values at the ends of sequences may be padding, which says nothing of a sample."""
    ends = frozenset(
        int(array[at])
        for array in (*port, *bench)
        if array.ndim == 1 and array.size and array.dtype.kind in "iu"
        for at in (0, -1)
    )
    yield port, ends
    yield bench, ends


def _mark(sample: Array, ends: frozenset[int]) -> Wide:
    """A vector of length 1 that stays nearly the same whatever layout, scale or small crop a sample has."""
    axis = channel_axis(sample.shape)
    if axis is not None and min(side for place, side in enumerate(sample.shape) if place != axis) >= _COARSE:
        grey = sample.astype(np.float64).mean(axis)
        rows = [part.mean(0) for part in np.array_split(grey, _COARSE, axis=0)]
        values = np.array([[cell.mean() for cell in np.array_split(row, _COARSE)] for row in rows]).reshape(-1)
    elif sample.ndim == 1 and sample.dtype.kind in "iu" and sample.size > 1:
        inside = np.array([one for one in sample if int(one) not in ends], dtype=np.int64)
        values = np.bincount(np.abs(inside) % 997, minlength=997).astype(np.float64)
    else:
        values = sample.astype(np.float64).reshape(-1)
    if values.size > 2:
        values = values - values.mean()
    length = float(np.linalg.norm(values))
    return values / length if length else values


def padding(port: Sequence[Array], bench: Sequence[Array]) -> Relation | None:
    """Sequences that are the same but for what fills them up: its side, its value, their length."""
    if any(array.ndim != 1 or array.dtype.kind not in "iuf" for array in (*port, *bench)):
        return None
    for there, here in product(list(_fillings(bench)), list(_fillings(port))):
        if there == here and len(port[0]) == len(bench[0]):
            continue
        stripped = [[_stripped(array, how) for array in side] for side, how in ((bench, there), (port, here))]
        if all(np.array_equal(a, b) for a, b in zip(*stripped, strict=True)) and any(
            len(array) for array in stripped[0]
        ):
            return Relation(Cause.DATA_PADDING, _filling_text(there, bench[0]), _filling_text(here, port[0]))
    return None


def _fillings(rows: Sequence[Array]) -> Iterator[tuple[str, float] | None]:
    for side, at in (("right", -1), ("left", 0)):
        for value in sorted({float(array[at]) for array in rows if array.size}):
            yield side, value
    yield None


def _stripped(row: Array, how: tuple[str, float] | None) -> Array:
    if how is None:
        return row
    kept = np.flatnonzero(row != how[1])
    if not kept.size:
        return row[:0]
    return row[: kept[-1] + 1] if how[0] == "right" else row[kept[0] :]


def _filling_text(how: tuple[str, float] | None, row: Array) -> str:
    return f"{len(row)}" if how is None else f"{how[0]}, {how[1]:g}, {len(row)}"


def labels(port: Sequence[Array], bench: Sequence[Array]) -> Relation:
    """How labels differ: counted from another number, one-hot against a number, other numbers for the classes."""
    if len({array.shape for array in bench}) > 1 or len({array.shape for array in port}) > 1:
        at = next((place for place, (a, b) in enumerate(zip(port, bench, strict=True)) if not np.array_equal(a, b)), 0)
        return Relation(Cause.LABELS, str(bench[at]), str(port[at]))
    there, here = (np.stack([np.asarray(array) for array in side]) for side in (bench, port))
    if here.shape != there.shape:
        for a, b, words in ((here, there, ("index", "one_hot")), (there, here, ("one_hot", "index"))):
            if a.ndim == b.ndim + 1 and np.array_equal(a.argmax(-1), b):
                return Relation(Cause.LABELS, *words)
        return Relation(Cause.LABELS, str(there.shape[1:]), str(here.shape[1:]))
    off = np.unique(here.astype(np.float64) - there.astype(np.float64))
    if len(off) == 1:
        return Relation(Cause.LABELS, "0", f"{off[0]:+g}")
    table = _renamed(here.reshape(-1), there.reshape(-1))
    if table is not None:
        return Relation(Cause.LABELS, ", ".join(map(str, table)), ", ".join(map(str, table.values())))
    first = int(np.flatnonzero((here != there).reshape(len(here), -1).any(1))[0])
    return Relation(Cause.LABELS, str(there[first]), str(here[first]))


def _renamed(port: Array, bench: Array) -> dict[Any, Any] | None:
    """The port's number of each of the benchmark's classes, where that is always the same one."""
    table: dict[Any, Any] = {}
    for there, here in zip(bench.tolist(), port.tolist(), strict=True):
        if table.setdefault(there, here) != here:
            return None
    often = 2 * len(table) <= len(port)
    return table if often and len(set(table.values())) == len(table) else None
