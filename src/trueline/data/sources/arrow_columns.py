"""Columns of Arrow, with what Hugging Face's page says of them: names of classes, images, arrays of a fixed shape."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from trueline.data.source import Cell, Column, Picture
from trueline.data.sources.pictures import THREADS, decode, decode_bytes, decoded_size, has_pillow
from trueline.formats.printable import is_plain_name
from trueline.kernel.array import Array

if TYPE_CHECKING:
    import pyarrow

_FIXED: Final = ("Array2D", "Array3D", "Array4D", "Array5D")


@dataclass(frozen=True, slots=True)
class Feature:
    """What the page says: its kind (Value, ClassLabel, Image …), the classes' names, an array's shape."""

    kind: str = ""
    names: Sequence[str] = ()
    shape: Sequence[int] = ()
    dtype: str = ""

    @classmethod
    def told(cls, page: object) -> Self:
        """Read it; whatever is not as expected says nothing."""
        if not isinstance(page, dict):
            return cls()
        names, shape = page.get("names"), page.get("shape")
        return cls(
            str(page.get("_type", "")),
            [str(name) for name in names] if isinstance(names, list) else (),
            [side for side in shape if isinstance(side, int) and side > 0] if isinstance(shape, list) else (),
            str(page.get("dtype", "")),
        )


def column_of(column: pyarrow.Array, feature: Feature, folder: Path) -> Column:
    """The values of a column: an array where they are numbers and none is missing, else a list."""
    import pyarrow as arrow

    if isinstance(column, arrow.ExtensionArray):
        column = column.storage
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if feature.kind == "ClassLabel" and arrow.types.is_integer(column.type):
        return _named(column, feature.names)
    if feature.kind in ("Image", "Audio") and arrow.types.is_struct(column.type):
        return _media(column, feature.kind == "Image", folder)
    if feature.kind in _FIXED:
        return _fixed(column, feature)
    kind = column.type
    numeric = arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_boolean(kind)
    if numeric and not column.null_count:
        return np.array(column.to_numpy(zero_copy_only=False))
    if (arrow.types.is_list(kind) or arrow.types.is_large_list(kind)) and _is_number(kind.value_type):
        return _rows(column)
    values: list[Cell] = column.to_pylist()
    return values


def _is_number(kind: object) -> bool:
    import pyarrow as arrow

    return bool(arrow.types.is_integer(kind) or arrow.types.is_floating(kind))


def _named(column: pyarrow.Array, names: Sequence[str]) -> list[Cell]:
    """Labels by name; -1 is what has none, and a number that no class has stays one."""
    values = column.to_pylist()
    return [
        None if value is None or value == -1 else names[value] if 0 <= value < len(names) else value for value in values
    ]


def _rows(column: pyarrow.Array) -> list[Cell]:
    """Sequences of numbers, each an array."""
    if column.values.null_count:
        found: list[Cell] = column.to_pylist()
        return found
    values: Array = column.values.to_numpy(zero_copy_only=False)
    ends: list[int] = column.offsets.to_pylist()
    missing: list[bool] = column.is_null().to_pylist()
    return [
        None if nothing else np.array(values[begin:end])
        for nothing, begin, end in zip(missing, ends[:-1], ends[1:], strict=True)
    ]


def _fixed(column: pyarrow.Array, feature: Feature) -> Column:
    """Arrays of one shape, which Arrow has as lists of lists."""
    try:
        return np.array(column.to_pylist(), feature.dtype or None).reshape(len(column), *feature.shape)
    except (ValueError, TypeError):
        found: list[Cell] = column.to_pylist()
        return found


def _media(column: pyarrow.Array, pictures: bool, folder: Path) -> list[Cell]:
    """Images, decoded, and sounds, as bytes."""
    values: list[dict[str, Cell] | None] = column.to_pylist()
    if not pictures or not has_pillow():
        return [value.get("bytes") if value is not None else None for value in values]
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(lambda value: _picture(value, folder), values))


def size_of_picture(scalar: pyarrow.Scalar) -> int:
    """How much memory the image of a cell takes when it is decoded; 0 where that is not known."""
    value = scalar.as_py()
    data = value.get("bytes") if isinstance(value, dict) else None
    return decoded_size(data) if isinstance(data, bytes) else 0


def _picture(value: dict[str, Cell] | None, folder: Path) -> Picture | None:
    if value is None:
        return None
    data, path = value.get("bytes"), value.get("path")
    place = str(path or "")
    if isinstance(data, bytes):
        return decode_bytes(data, place)
    if not place:
        return None
    # Hugging Face writes whole paths of images that it did not take in; any other stays inside the folder.
    if not Path(place).is_absolute() and not all(map(is_plain_name, Path(place).parts)):
        return Picture(place, broken="picture_outside")
    return decode(folder, place)
