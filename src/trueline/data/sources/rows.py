"""Rows of one shape and type in a file: read a few at a time, none of the others in memory."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from trueline.data.source import Array, Column
from trueline.formats.files import fault, open_file
from trueline.formats.stored import Stored
from trueline.formats.zips import inflating

_PIECE: Final = 1 << 20


class Rows(Protocol):
    """Rows by number; a BadFile where they are not there after all."""

    @property
    def length(self) -> int: ...

    @property
    def row_bytes(self) -> int: ...

    def read(self, start: int, stop: int) -> Column:
        """These rows, in memory of their own; quickest where ``start`` is where the last reading stopped."""
        ...


def stored_rows(stored: Stored) -> Rows:
    """The rows of an array of a file, which has at least one axis."""
    if stored.member is None:
        ((offset, _),) = stored.segments
        kind = PlainRows if stored.strides is None else ColumnRows
        return kind(stored.path, offset, stored.shape, stored.dtype)
    path, member = stored.path, stored.member
    ((offset, _),) = stored.segments
    if stored.strides is None:
        return StreamedRows(path, lambda: inflating(path, member, _PIECE), offset, stored.shape, stored.dtype)
    return _InflatedRows(path, member, offset, stored.shape, stored.dtype)


class PlainRows:
    """Rows that lie one after the other."""

    def __init__(self, path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._path = path
        self._offset = offset
        self._shape = shape
        self._dtype = dtype
        self.length = shape[0]
        self.row_bytes = math.prod(shape[1:]) * dtype.itemsize

    def read(self, start: int, stop: int) -> Array:
        """Read, not mapped: mapped pages would count as memory in use."""
        room = bytearray((stop - start) * self.row_bytes)
        with open_file(self._path) as file:
            _fill(self._path, file.fileno(), memoryview(room), self._offset + start * self.row_bytes)
        return _native(np.frombuffer(room, self._dtype).reshape(stop - start, *self._shape[1:]))


class ColumnRows(PlainRows):
    """Rows of an array in Fortran's order, where the first elements of all rows lie together."""

    def read(self, start: int, stop: int) -> Array:
        """A piece of each column."""
        size = self._dtype.itemsize
        columns = math.prod(self._shape[1:])
        piece = (stop - start) * size
        room = bytearray(columns * piece)
        view = memoryview(room)
        with open_file(self._path) as file:
            for column in range(columns):
                at = self._offset + (column * self.length + start) * size
                _fill(self._path, file.fileno(), view[column * piece : (column + 1) * piece], at)
        flat = np.frombuffer(room, self._dtype)
        return _native(np.ascontiguousarray(flat.reshape(stop - start, *self._shape[1:], order="F")))


class StreamedRows:
    """Rows of a compressed stream, which can only be read from its beginning on."""

    def __init__(
        self,
        path: Path,
        begin: Callable[[], Iterator[bytes]],
        offset: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self._path = path
        self._begin = begin
        self._offset = offset
        self._shape = shape
        self._dtype = dtype
        self.length = shape[0]
        self.row_bytes = math.prod(shape[1:]) * dtype.itemsize
        self._pieces: Iterator[bytes] | None = None
        self._left = b""
        self._at = 0

    def read(self, start: int, stop: int) -> Array:
        """On from where the last reading stopped, or from the beginning again."""
        wanted = self._offset + start * self.row_bytes
        if self._pieces is None or wanted < self._at:
            self._pieces, self._left, self._at = self._begin(), b"", 0
        self._pass_over(wanted - self._at)
        data = self._next((stop - start) * self.row_bytes)
        if stop == self.length:
            # A checksum is only told once the stream was read to its end.
            for _ in self._pieces:
                pass
            self._pieces = None
        return _native(np.frombuffer(data, self._dtype).reshape(stop - start, *self._shape[1:]))

    def _pass_over(self, count: int) -> None:
        while count:
            count -= len(self._next(min(count, _PIECE)))

    def _next(self, count: int) -> bytearray:
        assert self._pieces is not None
        found = bytearray()
        while len(found) < count:
            if not self._left:
                piece = next(self._pieces, None)
                if piece is None:
                    self._pieces = None
                    raise fault(self._path, "cut_short")
                self._left = piece
            more = self._left[: count - len(found)]
            found += more
            self._left = self._left[len(more) :]
        self._at += count
        return found


class SeenRows:
    """Rows looked at in one way of several: what was read last is not read again for the next."""

    def __init__(self, rows: Rows, look: Callable[[Any], Column], last: dict[Any, Any]) -> None:
        self._rows, self._look, self._last = rows, look, last
        self.length, self.row_bytes = rows.length, rows.row_bytes

    def read(self, start: int, stop: int) -> Column:
        """What the look makes of these rows."""
        key = (id(self._rows), start, stop)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._rows.read(start, stop)
        return self._look(self._last[key])


class _InflatedRows:
    """Rows in Fortran's order of a compressed member: inflated into a file without a name."""

    def __init__(self, path: Path, member: str, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._path = path
        self._member = member
        self._offset = offset
        self._shape = shape
        self._dtype = dtype
        self.length = shape[0]
        self.row_bytes = math.prod(shape[1:]) * dtype.itemsize
        self._file: Any = None

    def read(self, start: int, stop: int) -> Array:
        """Inflate once, then read."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it ends with this object
            for piece in inflating(self._path, self._member, _PIECE):
                self._file.write(piece)
            self._file.flush()
        inside = Path(f"/proc/self/fd/{self._file.fileno()}")
        return ColumnRows(inside, self._offset, self._shape, self._dtype).read(start, stop)


def _fill(path: Path, descriptor: int, room: memoryview, offset: int) -> None:
    while len(room):
        got = os.preadv(descriptor, [room], offset)
        if not got:
            raise fault(path, "cut_short")
        room, offset = room[got:], offset + got


def _native(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder("="), copy=False)
