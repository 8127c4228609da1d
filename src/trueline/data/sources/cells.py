"""Cells of a table as plain values: numbers where a column holds numbers, else text, None where there is nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.data.source import Cell, Column
from trueline.data.sources.delimited import is_number
from trueline.data.sources.duck import Fetched
from trueline.data.sources.relation import Form, TableColumn

# Larger whole numbers fit into no float.
_MOST_DIGITS: Final = 300


def plain_column(found: Fetched, column: TableColumn) -> Column:
    """A column as DuckDB gives it, as a Source gives it: an array of numbers, or a list."""
    if column.form is Form.TYPED:
        if found.null is None and found.values.dtype.kind in "biuf":
            return found.values
        return _listed(found)
    cells = [None if cell is None else str(cell) for cell in _listed(found)]
    if column.form is Form.JSON:
        return _numbers_or([None if cell is None else from_json(cell) for cell in cells])
    numbers = [cell for cell in cells if cell is not None and is_number(cell)]
    filled = [cell for cell in cells if cell is not None and cell.strip()]
    if len(numbers) * 2 < len(filled) or not filled:
        return cells
    return _numbers_or([number_of(cell) if cell is not None and is_number(cell) else cell for cell in cells])


def _listed(found: Fetched) -> list[Cell]:
    """Values one by one; times are texts, as nothing is computed with them."""
    kind = found.values.dtype.kind
    values = found.values.astype(str).tolist() if kind in "mM" else found.values.tolist()
    if found.null is None:
        return [_plain(value) for value in values]
    return [None if gone else _plain(value) for value, gone in zip(values, found.null.tolist(), strict=True)]


def _plain(value: Cell) -> Cell:
    """A list with holes has its nulls as None."""
    if getattr(value, "mask", None) is None:
        return value
    plain: Cell = value.tolist()
    return plain


def from_json(text: str) -> Cell:
    """A cell of a table of JSON as what it says; as it is written where that cannot be had."""
    try:
        return json.loads(text, parse_int=number_of)
    except (ValueError, RecursionError):
        # Nested more deeply than Python can hold; it stays as it is written.
        return text


def number_of(text: str) -> int | float:
    """A number as it is written, one of too many digits as a float; a ValueError where it is none."""
    try:
        return int(text) if len(text) <= _MOST_DIGITS else float(text)
    except ValueError:
        return float(text)


def _numbers_or(values: Sequence[Cell]) -> Column:
    """An array where all values are numbers."""
    kinds = {type(value) for value in values}
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.asarray(values, np.int64)
    if kinds and kinds <= {int, float}:
        return np.asarray(values, np.float64)
    return list(values)
