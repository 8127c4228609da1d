"""TensorBoard's event files: every scalar, as torch's and TensorFlow's writers write it."""

from __future__ import annotations

import re
from pathlib import Path
from struct import unpack
from typing import Final

import ml_dtypes
import numpy as np

from trueline.formats.event_file import Tool, curves, float_of, read_points
from trueline.formats.files import unreadable
from trueline.formats.wire import BadWire, Value, fields, signed, varint
from trueline.kernel.array import DType
from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.model.trouble import BadFile

_MARK: Final = "tfevents"
_TIME: Final = re.compile(r"tfevents\.(\d{1,18})")
_MOST_NAMED: Final = 5
_SCALARS: Final = b"scalars"
# TensorFlow's numbers of types.
_TYPES: Final[dict[int, DType]] = {
    number: np.dtype(name)
    for number, name in zip(
        (1, 2, 3, 4, 5, 6, 9, 10, 14, 17, 19, 22, 23),
        ("<f4", "<f8", "<i4", "u1", "<i2", "i1", "<i8", "bool", ml_dtypes.bfloat16, "<u2", "<f2", "<u4", "<u8"),
        strict=True,
    )
}
_DOUBLES: Final = 6
_FLOATS: Final = 5
_INTEGERS: Final = frozenset((7, 10, 11, 16, 17))
_HALVES: Final = 13


def read_tensorboard(path: Path) -> list[Curve]:
    """Every scalar of an event file, or of a run's folder; the scalars of its sub-runs are named by their folder."""
    try:
        if not path.is_dir():
            return curves(read_points([path], _TOOL))
        own = _files(path)
        below = [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _files(folder)]
    except OSError as error:
        raise unreadable(path, error) from None
    if own:
        found = curves(read_points(own, _TOOL))
        for folder in below:
            # As add_scalars writes them.
            found += curves(read_points(_files(folder), _TOOL), f"{folder.name}/")
        return found
    if len(below) == 1:
        return curves(read_points(_files(below[0]), _TOOL))
    if below:
        names = ", ".join(folder.name for folder in below[:_MOST_NAMED]) + (", …" if len(below) > _MOST_NAMED else "")
        raise BadFile(path, message("events.several", names=names).text())
    raise BadFile(path, message("events.no_files", tool=_TOOL.name).text())


def _files(folder: Path) -> list[Path]:
    """A run's event files, oldest first."""
    found = [path for path in folder.iterdir() if _MARK in path.name]

    def age(path: Path) -> tuple[int, str]:
        time = _TIME.search(path.name)
        return int(time[1]) if time else 0, path.name

    return sorted(found, key=age)


def _value(data: memoryview) -> tuple[str, float] | None:
    tag = ""
    number: float | None = None
    plugin = b""
    for field, _, value, _ in fields(data):
        if isinstance(value, int):
            continue
        if field == 1:
            tag = str(value, "utf-8", "replace")
        elif field == 2:
            number = float_of(value)
        elif field == 8:
            number = _scalar(value)
        elif field == 9:
            plugin = _plugin(value)
    return (tag, number) if number is not None and plugin in (b"", _SCALARS) else None


def _plugin(metadata: memoryview) -> bytes:
    for field, _, value, _ in fields(metadata):
        if field == 1 and not isinstance(value, int):
            for inner, _, name, _ in fields(value):
                if inner == 1 and not isinstance(name, int):
                    return bytes(name[:100])
    return b""


def _scalar(tensor: memoryview) -> float | None:
    """The number of a tensor without dimensions; None for any other."""
    dtype: DType | None = None
    content = b""
    listed: float | None = None
    for field, _, value, _ in fields(tensor):
        if field == 1 and isinstance(value, int):
            dtype = _TYPES.get(value)
        elif field == 2 and not isinstance(value, int):
            if any(inner == 2 for inner, _, _, _ in fields(value)):
                return None
        elif field == 4 and not isinstance(value, int):
            content = bytes(value[:16])
        elif field in _INTEGERS or field in (_FLOATS, _DOUBLES, _HALVES):
            listed = _listed(field, value, dtype)
    if dtype is None:
        return None
    if content:
        if len(content) != dtype.itemsize:
            raise BadWire("not a number")
        return float(np.frombuffer(content, dtype)[0])
    return listed


def _listed(field: int, value: Value, dtype: DType | None) -> float | None:
    """The last number of a list, packed or not."""
    if field == _FLOATS:
        return float_of(value[-4:]) if not isinstance(value, int) and len(value) else None
    if field == _DOUBLES:
        if isinstance(value, int) or len(value) < 8:
            return None
        return float(unpack("<d", value[-8:])[0])
    if not isinstance(value, int):
        if not len(value):
            return None
        value, _ = varint(value[:16], 0)
    if field == _HALVES and dtype is not None:
        return float(np.array([value & 0xFFFF], "<u2").view(dtype)[0]) if dtype.itemsize == 2 else None
    return float(signed(value))


_TOOL: Final = Tool("TensorBoard", "brain.Event:", _value)
