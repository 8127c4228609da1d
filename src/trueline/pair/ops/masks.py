"""Values of which a mask is made."""

from __future__ import annotations

from typing import Final

from trueline.pair.ops.additive_masks import is_mask
from trueline.pair.ops.reading import Reading

_MOST_OPS: Final = 4


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
