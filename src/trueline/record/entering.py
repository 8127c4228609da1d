"""What enters a network and its first layers, in numbers: looked at in a phase's first steps only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Values
from trueline.adapters.tree import leaves
from trueline.kernel import UnsupportedDtype, summarise
from trueline.kernel.array import Array
from trueline.model.numbers import plain
from trueline.record.ends import ends_of

# In the first step so many first calls are looked at, and as many that are fed by no other.
LAYERS: Final = 10
_FIELDS: Final = 8
# Of larger inputs the first samples tell as much.
_ELEMENTS: Final = 1 << 20
_MOST_COLUMNS: Final = 256
_CHANNELS: Final = (1, 3, 4)


def described(args: Sequence[Any], kwargs: Mapping[str, Any], values: Values) -> list[dict[str, Any]]:
    """Each tensor that a module is called with: its Summary and, of numbers with a fraction, that of its columns."""
    found = []
    for name, tensor in list(leaves((*args, dict(kwargs)) if kwargs else tuple(args), values.is_tensor))[:_FIELDS]:
        try:
            array = _some(values.to_numpy(tensor))
            summary = summarise(array)
        except (Unreadable, UnsupportedDtype):
            continue
        told = {"name": name, "shape": list(values.shape(tensor)), "dtype": values.dtype(tensor)}
        ends = ends_of(array)
        more = {"columns": _columns(array), "ends": ends.to_json() if ends is not None else None}
        found.append({**told, "summary": summary.to_json(), **more})
    return found


def _some(array: Array) -> Array:
    if not array.ndim or array.size <= _ELEMENTS:
        return array
    return array[: max(1, _ELEMENTS * len(array) // array.size)]


def _columns(array: Array) -> dict[str, Any] | None:
    """Mean and standard deviation of every feature: of pictures of every channel."""
    if array.dtype.kind != "f" or array.ndim < 2 or not array.size:
        return None
    axis = 1 if array.ndim > 3 and array.shape[-1] not in _CHANNELS else array.ndim - 1
    if array.shape[axis] > _MOST_COLUMNS:
        return None
    rest = tuple(place for place in range(array.ndim) if place != axis)
    with np.errstate(all="ignore"):
        mean = array.mean(rest, dtype=np.float64)
        std = array.std(rest, dtype=np.float64)
    return {"axis": axis, "mean": plain(_short(mean)), "std": plain(_short(std))}


def _short(numbers: Array) -> list[float]:
    return [float(f"{one:.6g}") for one in numbers.tolist()]
