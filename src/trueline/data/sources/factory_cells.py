"""Values of samples as JSON cells and arrays, to go through a pipe, and back."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from trueline.data.source import Column, Picture
from trueline.kernel.array import Array

_NUMBERS: Final = "biufc"
Cell = Any


class Packing:
    """Columns taken apart: ``arrays`` is what the cells speak of by number."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []

    def column(self, values: Column) -> Cell:
        """One array where all values are alike, else a cell for each."""
        array = values if isinstance(values, np.ndarray) else _stacked(values)
        if array is not None and _is_plain(array):
            return {"array": self._add(array)}
        return {"each": [self._cell(value) for value in values]}

    def _add(self, array: Array) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _cell(self, value: object) -> Cell:
        if value is None:
            return None
        if isinstance(value, Picture):
            at = self._add(value.pixels) if value.pixels is not None else None
            return {"picture": [value.place, value.width, value.height, value.mode, at]}
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            if _is_plain(array):
                return {"array": self._add(array)}
            # Texts and dates.
            return {"value": array.astype(str).tolist()}
        return {"value": value if isinstance(value, bool | int | float | str) else repr(value)[:1000]}


def _is_plain(array: Array) -> bool:
    return array.dtype.kind in _NUMBERS or array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def _stacked(values: Sequence[Any]) -> Array | None:
    """Values of one type and shape as rows of an array."""
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not values:
        return None
    if kinds <= {bool, float}:
        return np.array(values)
    if kinds == {int}:
        return np.array(values, np.int64) if all(abs(value) < 1 << 62 for value in values) else None
    if all(isinstance(value, np.ndarray | np.generic) for value in values):
        first = values[0]
        if all(value.shape == first.shape and value.dtype == first.dtype for value in values):
            stacked: Array = np.stack(values)
            return stacked
    return None


def unpacked(cells: Mapping[str, Cell], arrays: Sequence[Array]) -> dict[str, Column]:
    """The columns again; a ValueError or the like where they make no sense."""
    return {str(name): _column(cell, arrays) for name, cell in cells.items()}


def _column(cell: Cell, arrays: Sequence[Array]) -> Column:
    return arrays[cell["array"]] if "array" in cell else [_value(one, arrays) for one in cell["each"]]


def _value(cell: Cell, arrays: Sequence[Array]) -> object:
    if cell is None:
        return None
    ((kind, held),) = cell.items()
    return _KINDS[kind](held, arrays)


def _picture(held: Any, arrays: Sequence[Array]) -> Picture:
    place, width, height, mode, at = held
    return Picture(place, width, height, mode, arrays[at] if at is not None else None)


_KINDS: Final[dict[str, Callable[[Any, Sequence[Array]], Any]]] = {
    "array": lambda held, arrays: arrays[held],
    "bytes": lambda held, _: base64.b64decode(held),
    "value": lambda held, _: held,
    "picture": _picture,
}
