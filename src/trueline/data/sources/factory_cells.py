"""Values of samples as JSON cells and arrays, to go through a pipe, and back."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.data.source import Cell, Column, Picture
from trueline.kernel.array import Array
from trueline.model.json_value import Json, JsonObject

_NUMBERS: Final = "biufc"


class Packing:
    """Columns taken apart: ``arrays`` is what the cells speak of by number."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []

    def column(self, values: Column) -> Json:
        """One array where all values are alike, else a cell for each."""
        array = values if isinstance(values, np.ndarray) else _stacked(values)
        if array is not None and _is_plain(array):
            return {"array": self._add(array)}
        return {"each": [self._cell(value) for value in values]}

    def _add(self, array: Array) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _cell(self, value: object) -> Json:
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


def _stacked(values: Sequence[Cell]) -> Array | None:
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


def unpacked(cells: JsonObject, arrays: Sequence[Array]) -> dict[str, Column]:
    """The columns again; a ValueError or the like where they make no sense."""
    return {str(name): _column(cell, arrays) for name, cell in cells.items()}


def _column(column: Json, arrays: Sequence[Array]) -> Column:
    match column:
        case {"array": int(at)}:
            return arrays[at]
        case {"each": [*cells]}:
            return [_value(cell, arrays) for cell in cells]
    raise ValueError(column)


def _value(cell: Json, arrays: Sequence[Array]) -> Cell:
    match cell:
        case None:
            return None
        case {"array": int(at)}:
            return arrays[at]
        case {"bytes": str(text)}:
            return base64.b64decode(text)
        case {"value": value}:
            return value
        case {"picture": [str(place), int(width), int(height), str(mode), int() | None as at]}:
            return Picture(place, width, height, mode, arrays[at] if at is not None else None)
    raise ValueError(cell)
