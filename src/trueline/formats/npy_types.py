"""The types of NumPy's files that are no plain numbers: texts, dates, records.

Their sizes are computed here. NumPy's own parser keeps some of them in 32 bits, where a large one wraps around, and
takes descriptions that its writer never makes.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from trueline.formats.stored import MAX_DIMENSIONS
from trueline.kernel.array import DType

# What NumPy keeps an element's size in.
_MAX_ELEMENT_BYTES: Final = (1 << 31) - 1
_SCALAR: Final = re.compile(r"[<>|=]?([?biufcSaUVMmO])([0-9]{0,10})(\[[0-9]{0,9}[A-Za-z]{1,8}\])?", re.ASCII)
_UNITS: Final = {"U": 4}
_DATES: Final = "Mm"


class UnreadType(ValueError):  # noqa: N818
    """An array of a type that is not read: objects, and without being asked for records, texts, dates."""


def dtype_of(descr: object) -> DType:
    """The type that a header describes: a text, or a list of fields; a ValueError where it is none.

    Objects, which only pickle can read, types that NumPy does not have or cannot hold and sub-arrays, which no array
    has for its elements, are an UnreadType.
    """
    if not isinstance(descr, str | list):
        raise UnreadType(str(descr)[:_MAX_SHOWN_CHARACTERS])
    size = _size(descr)
    if not 0 < size <= _MAX_ELEMENT_BYTES:
        raise UnreadType(str(descr)[:_MAX_SHOWN_CHARACTERS])
    try:
        found: DType = np.lib.format.descr_to_dtype(descr)  # type: ignore[no-untyped-call]
    except (TypeError, OverflowError, MemoryError):
        raise UnreadType(str(descr)[:_MAX_SHOWN_CHARACTERS]) from None
    if found.hasobject:
        raise UnreadType("objects")
    if found.itemsize != size or found.subdtype is not None:
        raise UnreadType(str(descr)[:_MAX_SHOWN_CHARACTERS])
    return found


# A hostile description may be as long as the header.
_MAX_SHOWN_CHARACTERS: Final = 80


def _size(descr: object) -> int:
    """The bytes of one element."""
    if isinstance(descr, str):
        return _scalar_size(descr)
    if isinstance(descr, list):
        return sum(_field_size(*field) for field in descr)
    if not isinstance(descr, tuple):
        raise ValueError(descr)
    # A sub-array of a field: its type and its shape.
    inner, sides = descr
    return _size(inner) * _product(sides)


def _field_size(_name: object, descr: object, sides: object = ()) -> int:
    return _size(descr) * _product(sides)


def _product(sides: object) -> int:
    sides = (sides,) if isinstance(sides, int) else sides
    if not isinstance(sides, tuple) or len(sides) > MAX_DIMENSIONS:
        raise ValueError
    count = 1
    for side in sides:
        if type(side) is not int or side < 0:
            raise ValueError
        count *= side
    return count


def _scalar_size(descr: str) -> int:
    found = _SCALAR.fullmatch(descr)
    if found is None:
        raise UnreadType(descr[:_MAX_SHOWN_CHARACTERS])
    kind, digits, unit = found.groups()
    if kind == "O":
        raise UnreadType("objects")
    if unit is not None and kind not in _DATES:
        raise UnreadType(descr[:_MAX_SHOWN_CHARACTERS])
    if not digits:
        return 1 if kind == "?" else np.dtype(descr).itemsize
    return int(digits) * _UNITS.get(kind, 1)
