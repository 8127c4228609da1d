"""Cells of a table as plain values: numbers where a column holds numbers, text where not, None where there is nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueline.data.source import Array, Column
from trueline.data.sources.delimited import is_number
from trueline.data.sources.relation import Form, TableColumn


def plain_column(found: Array, column: TableColumn) -> Column:
    """A column as DuckDB gives it, as a Source gives it: an array of numbers, or a list."""
    masked = np.ma.getmaskarray(found) if isinstance(found, np.ma.MaskedArray) else None
    holes = masked is not None and bool(masked.any())
    if column.form is Form.TYPED:
        values = np.ma.getdata(found)
        if holes or values.dtype == object or values.dtype.kind in "mM":
            return [_plain(one) for one in found.tolist()] if values.dtype.kind not in "mM" else _times(found)
        return values
    cells = [None if one is None else str(one) for one in found.tolist()]
    if column.form is Form.JSON:
        return _numbers_or([None if one is None else json.loads(one) for one in cells])
    numbers = [one for one in cells if one is not None and is_number(one)]
    filled = [one for one in cells if one is not None and one.strip()]
    if len(numbers) * 2 < len(filled) or not filled:
        return cells
    return _numbers_or([_number(one) if one is not None and is_number(one) else one for one in cells])


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _numbers_or(values: Sequence[Any]) -> Column:
    """An array where all values are numbers."""
    kinds = {type(one) for one in values}
    if kinds == {int} and all(-(2**63) <= one < 2**63 for one in values):
        return np.asarray(values, np.int64)
    if kinds and kinds <= {int, float}:
        return np.asarray(values, np.float64)
    return list(values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        return value
    if isinstance(value, np.ma.MaskedArray):
        return value.tolist()
    return value


def _times(found: Array) -> list[Any]:
    return [None if one is None else str(one) for one in np.ma.asarray(found).astype(object).tolist()]
