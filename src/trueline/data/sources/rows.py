"""Rows of one shape and type in a file: read a few at a time, none of the others in memory."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from trueline.data.source import Column
from trueline.formats.files import fault, open_file, unreadable
from trueline.formats.stored import Stored
from trueline.formats.zips import inflating
from trueline.kernel.array import Array, DType
from trueline.model.budget import Budget

# A chunk of so many bytes is enough to be quick.
CHUNK_BYTES: Final = 8 << 20
_PIECE: Final = 1 << 20
_LAST_CHARACTER: Final = 0x10FFFF
_NO_CHARACTER: Final = 0xFFFD
# A row is read, turned and looked at.
_READ_AT_ONCE: Final = 4
# A chunk of rows is read, turned, looked at and measured.
_CHUNK_AT_ONCE: Final = 5
# Numbers are measured together; any other row is turned into a value of its own, and hashed.
_NUMBER_UNITS, _ROW_UNITS = 1, 5
# Of so many samples a fingerprint is kept, and looked for among the others.
_KEPT, _FINGERPRINT = 1_000_000, 56
# A piece of a column of fewer bytes is not worth a reading of its own.
_MIN_READ_BYTES: Final = 512


_Read = TypeVar("_Read")
_Read_co = TypeVar("_Read_co", covariant=True)
# What was read last: of which rows, from where to where.
Reading: TypeAlias = tuple[int, int, int]


class Readable(Protocol[_Read_co]):
    """Rows by number; a BadFile where they are not there after all."""

    @property
    def length(self) -> int: ...

    @property
    def row_bytes(self) -> int: ...

    def read(self, start: int, stop: int) -> _Read_co:
        """These rows, in memory of their own; quickest where ``start`` is where the last reading stopped."""
        ...


Rows: TypeAlias = Readable[Column]


def check_rows(path: Path, length: int, row_bytes: int, *, numbers: bool) -> None:
    """An OverBudget where there are more rows, or larger ones, than a file can be worth: rows may be of no bytes."""
    budget = Budget(path, _size(path))
    budget.spend(length * (_NUMBER_UNITS if numbers else _ROW_UNITS))
    budget.hold(_READ_AT_ONCE * row_bytes if length else 0)
    budget.hold(_CHUNK_AT_ONCE * min(CHUNK_BYTES, max(0, length * row_bytes - row_bytes)))
    budget.hold(_FINGERPRINT * min(_KEPT, length))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from None


def stored_rows(stored: Stored) -> Rows:
    """The rows of an array of a file, which has at least one axis."""
    length = stored.shape[0]
    numbers = len(stored.shape) == 1 and stored.dtype.kind in "biuf"
    # An element takes its place also where no row has one.
    row_bytes = max(stored.nbytes // length, stored.dtype.itemsize) if length else 0
    check_rows(stored.path, length, row_bytes, numbers=numbers)
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

    def __init__(self, path: Path, offset: int, shape: tuple[int, ...], dtype: DType) -> None:
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
        """A piece of each column; of short ones many columns whole, since each reading has its price."""
        size = self._dtype.itemsize
        columns = math.prod(self._shape[1:])
        flat = np.empty((columns, stop - start), self._dtype)
        whole = (stop - start) * size < _MIN_READ_BYTES
        many = max(1, _PIECE // max(1, self.length * size)) if whole else 1
        first, last = (0, self.length) if whole else (start, stop)
        room = bytearray(many * (last - first) * size)
        with open_file(self._path) as file:
            for column in range(0, columns, many):
                count = min(many, columns - column)
                view = memoryview(room)[: count * (last - first) * size]
                _fill(self._path, file.fileno(), view, self._offset + (column * self.length + first) * size)
                read = np.frombuffer(view, self._dtype).reshape(count, last - first)
                flat[column : column + count] = read[:, start - first : stop - first]
        flat = flat.reshape(-1)
        return _native(np.ascontiguousarray(flat.reshape(stop - start, *self._shape[1:], order="F")))


class StreamedRows:
    """Rows of a compressed stream, which can only be read from its beginning on."""

    def __init__(
        self,
        path: Path,
        begin: Callable[[], Iterator[bytes]],
        offset: int,
        shape: tuple[int, ...],
        dtype: DType,
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


class SeenRows(Generic[_Read]):
    """Rows looked at in one way of several: what was read last is not read again for the next."""

    def __init__(self, rows: Readable[_Read], look: Callable[[_Read], Column], last: dict[Reading, _Read]) -> None:
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

    def __init__(self, path: Path, member: str, offset: int, shape: tuple[int, ...], dtype: DType) -> None:
        self._path = path
        self._member = member
        self._offset = offset
        self._shape = shape
        self._dtype = dtype
        self.length = shape[0]
        self.row_bytes = math.prod(shape[1:]) * dtype.itemsize
        self._file: IO[bytes] | None = None

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
    found = array.astype(array.dtype.newbyteorder("="), copy=False)
    for name in found.dtype.names or ():
        field = found[name]
        if (readable := _native(field)) is not field:
            found = found if found.flags.owndata and found.flags.writeable else found.copy()
            found[name] = readable
    if found.dtype.kind == "U" and found.dtype.itemsize and found.size:
        codes = np.ascontiguousarray(found).view(np.uint32)
        if codes.max() > _LAST_CHARACTER:
            # No text of Python's can hold these.
            return np.where(codes > _LAST_CHARACTER, _NO_CHARACTER, codes).astype(np.uint32).view(found.dtype)
    return found
