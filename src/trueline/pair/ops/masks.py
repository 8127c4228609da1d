"""Masks that are added to scores: nothing where they may be seen, a large negative number where not."""

from __future__ import annotations

from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.same_values import MASKED

_MOST_OPS: Final = 4


def is_mask(array: Array) -> bool:
    """Whether a value is zero at some places and a large negative number at all others."""
    if not array.size or array.dtype.kind != "f":
        return False
    rest = array[array != 0]
    return 0 < rest.size < array.size and float(np.max(rest)) <= MASKED


def makes_mask(reading: Reading, value: int) -> bool:
    """Whether a value is a mask, or becomes one within a few operators that keep its size."""
    first = reading.array(value)
    reached = {value}
    for _ in range(_MOST_OPS):
        arrays = [array for value_id in reached if (array := reading.array(value_id)) is not None]
        if any(is_mask(array) for array in arrays):
            return True
        users = [op for op in reading.graph.ops if op.module is None and reached & set(reading.inputs(op))]
        reached = {
            reading.base(out)
            for op in users
            for out in op.outputs
            if first is not None and (made := reading.array(out)) is not None and made.size == first.size
        }
    return False
