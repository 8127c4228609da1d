"""The tensors of one step in execution order: how far each pair is apart, and the first that really is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from trueline.compare.align import Alignment, Pair, align
from trueline.compare.noise import tensor_floor
from trueline.compare.verdict import Verdict
from trueline.formats.run_folder.reader import RankFolder
from trueline.kernel import distance
from trueline.model.distance import Distance
from trueline.model.key import Key, Kind, Phase
from trueline.model.run import CallInfo

Array = npt.NDArray[Any]

_BACKWARD: Final = frozenset({Kind.GIN, Kind.GOUT, Kind.GRAD})
# A gradient that is zero but for rounding (a bias before BatchNorm) is judged by this share of the step's largest.
_SMALLEST_SCALE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Row:
    """A pair: ``level`` is their distance relative to the benchmark's scale, ``floor`` what noise explains."""

    pair: Pair
    distance: Distance
    level: float
    floor: float

    @property
    def differs(self) -> bool:
        """Whether noise does not explain the distance."""
        return self.level > self.floor


@dataclass(frozen=True, slots=True)
class StepComparison:
    """Rows in the benchmark's order; ``inputs_agree`` is None where the inputs of the ``first`` were not recorded."""

    step: int
    phase: Phase
    rows: Sequence[Row]
    alignment: Alignment
    first: int | None
    inputs_agree: bool | None

    @property
    def verdict(self) -> Verdict | None:
        """None where there was nothing to compare."""
        if not self.rows:
            return None
        if self.first is not None:
            return Verdict.DIFFERS
        return Verdict.EQUAL if all(row.distance.identical for row in self.rows) else Verdict.NOISE


def compare_step(a: RankFolder, b: RankFolder, step: int, phase: Phase = Phase.TRAIN) -> StepComparison:
    """Compare the full tensors of one step with the benchmark ``b``'s."""
    here, there = a.tensors(step), b.tensors(step)
    alignment = align((key for key in here if key.phase is phase), (key for key in there if key.phase is phase))
    distances = [(pair, measure(here[pair.a], there[pair.b])) for pair in alignment.pairs]
    rows = _judge(distances, _depths(b.calls, phase), step)
    first = next((place for place, row in enumerate(rows) if row.differs), None)
    agree = _inputs_agree(rows, first, b.calls) if first is not None else None
    return StepComparison(step, phase, rows, alignment, first, agree)


def measure(here: Array, there: Array) -> Distance:
    """The distance of two tensors; sides of length 1 are not a difference in shape."""
    if here.shape != there.shape and _without_ones(here.shape) == _without_ones(there.shape):
        here = np.reshape(here, there.shape)
    found = distance(_measurable(here), _measurable(there))
    return replace(found, dtype_a=str(here.dtype), dtype_b=str(there.dtype))


def _measurable(array: Array) -> Array:
    """The array as a type that the kernel reads: the 8-bit floats all fit into float32."""
    return array.astype(np.float32) if str(array.dtype).startswith("float8") else array


def _without_ones(shape: Iterable[int]) -> list[int]:
    return [side for side in shape if side != 1]


def _judge(distances: Sequence[tuple[Pair, Distance]], depths: Mapping[tuple[str, int], int], step: int) -> list[Row]:
    deepest = max(depths.values(), default=len(distances))
    largest = max((found.max_ref for pair, found in distances if pair.b.kind in _BACKWARD), default=0.0)
    rows = []
    depth = 0
    for pair, found in distances:
        # A parameter has the depth of what came before it; a gradient has passed the whole network once more.
        depth = depths.get((pair.b.module, pair.b.call), depth)
        backward = pair.b.kind in _BACKWARD
        floor = tensor_floor((found.dtype_a, found.dtype_b), 2 * deepest - depth if backward else depth, step)
        rows.append(Row(pair, found, _level(found, _SMALLEST_SCALE * largest if backward else 0.0), floor))
    return rows


def _level(found: Distance, smallest_scale: float) -> float:
    if not found.comparable or found.other_non_finite:
        return math.inf
    if found.max_ref < smallest_scale:
        return found.max_abs / smallest_scale
    return max(found.relative_max, found.relative_l2)


def _depths(calls: Sequence[CallInfo], phase: Phase) -> dict[tuple[str, int], int]:
    return {(one.path, one.call): place for place, one in enumerate(one for one in calls if one.phase == phase)}


def _inputs_agree(rows: Sequence[Row], first: int, calls: Sequence[CallInfo]) -> bool | None:
    """Whether what reaches the first row that differs still agreed: its own inputs, else the outputs that feed it."""
    key = rows[first].pair.b
    inputs = _rows_of(rows, [(key.module, key.call)], Kind.GOUT if key.kind in _BACKWARD else Kind.IN, key)
    if not inputs and key.kind in (Kind.IN, Kind.OUT):
        inputs = _rows_of(rows, _feeding(key, calls), Kind.OUT, key)
    return not any(row.differs for row in inputs) if inputs else None


def _rows_of(rows: Sequence[Row], modules: Sequence[tuple[str, int]], kind: Kind, not_this: Key) -> list[Row]:
    return [
        row
        for row in rows
        if (row.pair.b.module, row.pair.b.call) in modules
        and row.pair.b.kind is kind
        and not (kind is not_this.kind and row.pair.b.module == not_this.module)
    ]


def _feeding(key: Key, calls: Sequence[CallInfo]) -> list[tuple[str, int]]:
    for one in calls:
        if (one.path, one.call, one.phase) == (key.module, key.call, key.phase):
            return [(calls[place].path, calls[place].call) for place in one.feeds_from if place < len(calls)]
    return []
