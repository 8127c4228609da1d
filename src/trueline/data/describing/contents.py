"""A hash of the content of each sample of a chunk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.describing.sampling import Hashes, combined, hash_bytes, hash_numbers
from trueline.data.source import Cell, Column, Picture

_NOTHING: Final = 0x5BD1E995


def there(columns: Sequence[Column], size: int) -> npt.NDArray[np.bool_]:
    """Which samples have something in at least one of these columns."""
    found = np.zeros(size, np.bool_)
    for column in columns:
        if isinstance(column, np.ndarray):
            return np.ones(size, np.bool_)
        found |= np.fromiter((not _is_nothing(value) for value in column), np.bool_, size)
    return found


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, Picture) and value.broken is not None)


def content_hashes(columns: Sequence[Column], size: int) -> Hashes:
    """Of all these columns together."""
    found = np.zeros(size, np.uint64)
    for column in columns:
        found = combined(found, _of_column(column))
    return found


def _of_column(column: Column) -> Hashes:
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf" and column.ndim == 1:
        return hash_numbers(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufV":
        rows = np.ascontiguousarray(column).reshape(len(column), -1)
        return np.fromiter((hash_bytes(row.tobytes()) for row in rows), np.uint64, len(rows))
    return np.fromiter((_of_value(value) for value in column), np.uint64, len(column))


def _of_number(value: Cell) -> int:
    if abs(value) < 2**53 or value != value:
        return int(hash_numbers(np.asarray([value]))[0])
    return hash_bytes(str(value).encode())


def _of_value(value: object) -> int:
    if value is None:
        return _NOTHING
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return _of_number(value)
    if isinstance(value, str):
        return hash_bytes(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return hash_bytes(value)
    if isinstance(value, Picture):
        if value.pixels is None:
            return hash_bytes(value.place.encode("utf-8", "surrogateescape"))
        return hash_bytes(repr(value.pixels.shape).encode() + np.ascontiguousarray(value.pixels).tobytes())
    if isinstance(value, np.ndarray):
        return hash_bytes(repr((value.shape, value.dtype.str)).encode() + np.ascontiguousarray(value).tobytes())
    return hash_bytes(json.dumps(value, sort_keys=True, default=str).encode())
