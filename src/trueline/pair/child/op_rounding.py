"""Values moved as another library could have rounded them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from trueline.adapters.nouns import OpCall
from trueline.adapters.perturbation import Draws
from trueline.adapters.protocol import Adapter
from trueline.apitable.opkinds import op_kind, op_kinds
from trueline.kernel.array import Array

# Rounding units; what is computed in float64 is mostly read from float32.
_ULPS: Final[Mapping[str, float]] = {
    "float64": 2.0**-23,
    "float32": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
}
# A prime, so that it falls in step with no tensor's sides.
_POOL_SIZE: Final = 1_048_573
# Whether numbers are whole, so many of them mostly show.
_GLANCE_SIZE: Final = 256


class Rounding:
    """Factors of a rounding unit more or less than one, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._draws = Draws(seed)
        self._pools: dict[float, Array] = {}

    def moved(self, array: Array) -> Array:
        """Each value as it is, or a rounding unit up or down; whole numbers are labels and masks."""
        unit = _ULPS.get(array.dtype.name)
        if unit is None or not array.size or _is_whole(array):
            return array
        moved: Array = array * self._factors(array.size, unit).reshape(array.shape)
        return moved if moved.dtype == array.dtype else moved.astype(array.dtype)

    def _factors(self, count: int, unit: float) -> Array:
        """Out of a pool that is drawn once."""
        pool = self._pools.get(unit)
        if pool is None:
            pool = self._pools[unit] = (1 + self._draws.signs(_POOL_SIZE) * np.float32(unit)).astype(np.float32)
        repeats = -(-count // _POOL_SIZE)
        return pool[:count] if repeats == 1 else np.tile(pool, repeats)[:count]


def move_outputs(adapter: Adapter, call: OpCall, move: Callable[[Array], Array]) -> None:
    """Write into what a forward operator has just made what ``move`` makes of it."""
    row = op_kinds().get(op_kind(adapter.name, call.name))
    if call.backward or (row is not None and (row.view or row.constant)):
        return
    for tensor in call.outputs:
        # What an operator writes into is another's too.
        if "float" not in adapter.values.dtype(tensor) or any(tensor is given for given in call.inputs):
            continue
        before = adapter.values.to_numpy(tensor)
        moved = move(before)
        if moved is not before:
            adapter.values.assign(tensor, moved)


def _is_whole(array: Array) -> bool:
    """Whether all are whole numbers, which a glance mostly shows."""
    flat = array.reshape(-1)
    glance = flat[:_GLANCE_SIZE]
    return bool(np.all(np.rint(glance) == glance)) and bool(np.all(np.rint(flat) == flat))
