"""NumPy's .npy files: one array each, found without reading it."""

from __future__ import annotations

import ast
import math
import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import ml_dtypes
import numpy as np

from trueline.formats.files import descriptor_of, fault, unreadable
from trueline.formats.npy_types import UnreadType, dtype_of
from trueline.formats.printable import printable
from trueline.formats.stored import MAX_DIMENSIONS, Stored
from trueline.kernel.array import DType

MAGIC: Final = b"\x93NUMPY"
# A header of up to this many bytes is read at once; hardly any is longer.
_USUAL_HEADER_BYTES: Final = 256
MAX_HEADER: Final = 16 << 10

_USUAL: Final = re.compile(rb"\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \}\s*")
# The same three entries as others write them: in any order and spacing, Python 2's long numbers too.
_DESCR: Final = re.compile(rb"""["']descr["']\s*:\s*(?:["']([^"']*)["']|(.))""", re.DOTALL)
_FORTRAN: Final = re.compile(rb"""["']fortran_order["']\s*:\s*(True|False|1|0)\b""")
_SHAPE: Final = re.compile(rb"""["']shape["']\s*:\s*\(([0-9L,\s]*)\)""")

_DTYPES: dict[bytes, DType] = {
    order + kind: np.dtype((order + kind).decode())
    for order in (b"<", b">", b"|", b"=", b"")
    for kind in (b"b1", b"i1", b"i2", b"i4", b"i8", b"u1", b"u2", b"u4", b"u8", b"f2", b"f4", b"f8", b"c8", b"c16")
}
# NumPy writes the types of ml_dtypes by size alone. Two bytes can only be bfloat16; one byte may be any of several
# float8 and int4 types and is refused, but for the one that has a name of its own.
_DTYPES |= {b"<V2": np.dtype(ml_dtypes.bfloat16), b"|V2": np.dtype(ml_dtypes.bfloat16)}
_DTYPES |= {b"<f1": np.dtype(ml_dtypes.float8_e5m2), b"|f1": np.dtype(ml_dtypes.float8_e5m2)}
_DTYPES[b">V2"] = np.dtype(ml_dtypes.bfloat16).newbyteorder(">")


@dataclass(frozen=True, slots=True)
class Header:
    """What an array's header says; its elements begin after ``length`` bytes."""

    length: int
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None

    @property
    def nbytes(self) -> int:
        """How many bytes its elements take."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(path: Path, name: str | None = None, *, wide: bool = False, partly: bool = False) -> Stored:
    """The array of a file, called like the file unless another name is given.

    ``wide`` takes records, texts and dates, too; ``partly`` as many whole rows as a file cut short has.
    """
    try:
        descriptor = descriptor_of(path)
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        about = os.fstat(descriptor)
        start = os.pread(descriptor, _USUAL_HEADER_BYTES, 0)
        length = header_length(start)
        if _USUAL_HEADER_BYTES < length <= MAX_HEADER:
            start = os.pread(descriptor, length, 0)
    except OSError as error:
        raise unreadable(path, error) from None
    finally:
        os.close(descriptor)
    try:
        header = parse_header(start, wide=wide)
    except UnreadType as error:
        raise fault(path, "unread_type", name=printable(path.stem), dtype=printable(str(error))) from None
    except ValueError:
        raise fault(path, "bad_npy") from None
    if header.length + header.nbytes > about.st_size:
        if not partly or header.strides is not None or not header.shape:
            raise fault(path, "cut_short")
        row = header.nbytes // header.shape[0]
        header = replace(header, shape=((about.st_size - header.length) // row, *header.shape[1:]))
    segments = ((header.length, header.nbytes),)
    return Stored(path.stem if name is None else name, header.shape, header.dtype, path, segments, header.strides)


def header_length(start: bytes) -> int:
    """How many bytes the header takes, 0 where there is none."""
    if start[:6] != MAGIC or len(start) < 12:
        return 0
    if start[6] == 1:
        return 10 + int.from_bytes(start[8:10], "little")
    return 12 + int.from_bytes(start[8:12], "little") if start[6] in (2, 3) else 0


def parse_header(start: bytes, *, wide: bool = False) -> Header:
    """The header at the start of these bytes; a ValueError where there is none. ``wide`` as for read_npy."""
    length = header_length(start)
    if not 0 < length <= min(MAX_HEADER, len(start)):
        raise ValueError
    return _parsed(start[10 if start[6] == 1 else 12 : length], length, wide)


@lru_cache(maxsize=4096)
def _parsed(text: bytes, length: int, wide: bool) -> Header:
    # The files of a folder share a few headers.
    usual = _USUAL.fullmatch(text)
    try:
        descr, fortran, shape = usual.groups() if usual is not None else _unusual(text)
        dtype = _DTYPES.get(descr)
        if dtype is None:
            raise UnreadType(descr.decode("utf-8", "replace"))
        sides = tuple([int(side) for side in shape.replace(b",", b" ").split()])
        by_columns = fortran in (b"True", b"1")
    except UnreadType:
        if not wide:
            raise
        dtype, sides, by_columns = _wide(text)
    if len(sides) > MAX_DIMENSIONS or math.prod([side or 1 for side in sides]) * dtype.itemsize >= 1 << 63:
        raise ValueError
    return Header(length, dtype, sides, _fortran_strides(sides) if by_columns else None)


def _wide(text: bytes) -> tuple[DType, tuple[int, ...], bool]:
    """A header whose elements are records, texts, dates; objects, which only pickle can read, are refused."""
    try:
        found = ast.literal_eval(text.decode("latin-1").strip())
        descr, sides = found["descr"], found["shape"]
        dtype = dtype_of(descr)
    except UnreadType:
        raise
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, MemoryError):
        raise ValueError from None
    plain = isinstance(sides, tuple) and all(type(side) is int and side >= 0 for side in sides)
    if not plain or not dtype.itemsize:
        raise ValueError
    return dtype, sides, bool(found.get("fortran_order"))


def _unusual(text: bytes) -> tuple[bytes, bytes, bytes]:
    descrs, fortrans, shapes = _DESCR.findall(text), _FORTRAN.findall(text), _SHAPE.findall(text)
    if not text.lstrip().startswith(b"{") or len(descrs) != 1:
        raise ValueError
    descr, structured = descrs[0]
    if structured:
        raise UnreadType("structured")
    if len(fortrans) != 1 or len(shapes) != 1:
        raise ValueError
    return descr, fortrans[0], shapes[0].replace(b"L", b"")


def _fortran_strides(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if len(shape) < 2:
        return None
    strides = [1]
    for side in shape[:-1]:
        strides.append(strides[-1] * side)
    return tuple(strides)
