"""What enters a network and its first layers, in numbers: looked at in a phase's first steps only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.adapters.tree import leaves
from trueline.kernel import UnsupportedDtype, summarise
from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.model.numbers import plain
from trueline.record.padding import ends_of

# In the first step so many first calls are looked at, and as many that are fed by no other.
LAYERS: Final = 10
_MAX_FIELDS: Final = 8
# Of larger inputs the first samples tell as much.
_MAX_ELEMENTS: Final = 1 << 20
_MAX_COLUMNS: Final = 256
_CHANNELS: Final = (1, 3, 4)


def described(args: Sequence[Value], kwargs: Mapping[str, Value], values: Values) -> list[JsonObject]:
    """Each tensor that a module is called with: its Summary and, of numbers with a fraction, that of its columns."""
    fields: list[JsonObject] = []
    for name, tensor in list(leaves((*args, dict(kwargs)) if kwargs else tuple(args), values.is_tensor))[:_MAX_FIELDS]:
        try:
            array = _first_samples(values.to_numpy(tensor))
            summary = summarise(array)
        except (Unreadable, UnsupportedDtype):
            continue
        ends = ends_of(array)
        fields.append(
            {
                "name": name,
                "shape": list(values.shape(tensor)),
                "dtype": values.dtype(tensor),
                "summary": summary.to_json(),
                "columns": _columns(array),
                "ends": ends.to_json() if ends is not None else None,
            }
        )
    return fields


def _first_samples(array: Array) -> Array:
    if not array.ndim or array.size <= _MAX_ELEMENTS:
        return array
    return array[: max(1, _MAX_ELEMENTS * len(array) // array.size)]


def _columns(array: Array) -> JsonObject | None:
    """Mean and standard deviation of every feature: of pictures of every channel."""
    if array.dtype.kind != "f" or array.ndim < 2 or not array.size:
        return None
    axis = 1 if array.ndim > 3 and array.shape[-1] not in _CHANNELS else array.ndim - 1
    if array.shape[axis] > _MAX_COLUMNS:
        return None
    rest = tuple(place for place in range(array.ndim) if place != axis)
    with np.errstate(all="ignore"):
        mean = array.mean(rest, dtype=np.float64)
        std = array.std(rest, dtype=np.float64)
    return {"axis": axis, "mean": plain(_short(mean)), "std": plain(_short(std))}


def _short(numbers: Array) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers.tolist()]
