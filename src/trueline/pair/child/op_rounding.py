"""Values moved as another library could have rounded them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from trueline.adapters.nouns import OpCall
from trueline.adapters.perturbation import Draws
from trueline.adapters.protocol import Adapter
from trueline.apitable.opkinds import op_kind, op_kinds
from trueline.kernel.array import Array

# The rounding unit of float32.
_ULP: Final = 2.0**-23
# A prime, so that it falls in step with no tensor's sides.
_POOL_SIZE: Final = 1_048_573
# Whether numbers are whole, so many of them mostly show.
_GLANCE_SIZE: Final = 256


class Rounding:
    """Factors of a rounding unit more or less than one, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._draws = Draws(seed)
        self._pool: Array | None = None

    def moved(self, array: Array) -> Array:
        """Each value as it is, or a rounding unit up or down; whole numbers are labels and masks."""
        if array.dtype not in (np.float32, np.float64) or not array.size or _is_whole(array):
            return array
        moved: Array = array * self._factors(array.size).reshape(array.shape)
        return moved if moved.dtype == array.dtype else moved.astype(array.dtype)

    def _factors(self, count: int) -> Array:
        """Out of a pool that is drawn once."""
        if self._pool is None:
            self._pool = (1 + self._draws.signs(_POOL_SIZE) * np.float32(_ULP)).astype(np.float32)
        repeats = -(-count // _POOL_SIZE)
        return self._pool[:count] if repeats == 1 else np.tile(self._pool, repeats)[:count]


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
