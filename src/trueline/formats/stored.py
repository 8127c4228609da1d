"""Where the elements of a named array lie in a file: small, picklable, and read only when asked."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias

import ml_dtypes  # noqa: F401 (gives NumPy the names bfloat16 and float8_*)
import numpy as np
import numpy.typing as npt

from trueline.formats.files import fault, map_file, open_file
from trueline.formats.printable import printable
from trueline.formats.zips import inflated, inflating
from trueline.kernel import Parts
from trueline.kernel.array import Array, DType

Segments: TypeAlias = tuple[tuple[int, int], ...]

MAX_DIMENSIONS: Final = 32
_MOST_MAPPED: Final = 64


@dataclass(frozen=True, slots=True)
class Stored:
    """One array of a file.

    ``segments`` are (offset, bytes) in the file, in order; most arrays have one. ``strides`` (in elements) say how a
    view lies in it, None is C order. ``member`` names the member of a zip archive whose bytes are meant where it is
    compressed: then the segments lie in the inflated member. ``shared_with`` is the first name of the same elements.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    path: Path
    segments: Segments
    strides: tuple[int, ...] | None = None
    member: str | None = None
    shared_with: str | None = None

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes its elements take."""
        return self.count * self.dtype.itemsize

    def elements(self) -> Array | Parts:
        """What the kernel measures: the array, or its parts where the file holds them apart or compressed."""
        if self.member is None and len(self.segments) == 1:
            return self.array()
        if self.strides is not None:
            return self.array()
        return Parts(self.shape, self.dtype, self._parts)

    def _parts(self) -> Iterator[Array]:
        if self.member is not None:
            return _joined(_inflating(self.path, self.member, self.segments), self.dtype)
        whole = mapped(self.path)
        return _joined((whole[offset : offset + size] for offset, size in self.segments), self.dtype)

    def array(self) -> Array:
        """The array: a read-only view of the mapped file, or a copy where the file holds it compressed or in parts."""
        data = self.bytes()
        if self.strides is None:
            return data[: self.nbytes].view(self.dtype).reshape(self.shape)
        strides = tuple(step * self.dtype.itemsize for step in self.strides)
        return np.ndarray(self.shape, self.dtype, data, strides=strides)

    def bytes(self) -> npt.NDArray[np.uint8]:
        """The bytes its elements lie in."""
        if self.member is not None:
            whole = np.frombuffer(inflated(self.path, self.member), np.uint8)
        else:
            whole = mapped(self.path)
        parts = [whole[offset : offset + size] for offset, size in self.segments]
        if any(part.size != size for part, (_, size) in zip(parts, self.segments, strict=True)):
            raise fault(self.path, "cut_short")
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else whole[:0]

    @property
    def lies_plainly(self) -> bool:
        """Whether its bytes in the file are its elements in C order and little-endian."""
        return self.strides is None and self.member is None and self.dtype.byteorder != ">"

    def read(self, most: int) -> Iterator[npt.NDArray[np.uint8]]:
        """Its bytes, so many at a time, each piece good until the next; a file that became shorter is a BadFile."""
        buffer = np.empty(most, np.uint8)
        with open_file(self.path) as file:
            for offset, size in self.segments:
                end = offset + size
                while offset < end:
                    got = os.preadv(file.fileno(), [buffer[: end - offset].data], offset)
                    if not got:
                        raise fault(self.path, "cut_short")
                    yield buffer[:got]
                    offset += got

    def check(self) -> None:
        """A BadFile where the elements do not fit into the segments; a reader calls this for each array it finds."""
        held = sum(size for _, size in self.segments)
        sides = [side for side in self.shape if side]
        if len(self.shape) > MAX_DIMENSIONS or math.prod(sides) * self.dtype.itemsize >= 1 << 63:
            raise fault(self.path, "bad_array", name=printable(self.name))
        needed = self.nbytes
        if self.strides is not None and self.count:
            if len(self.strides) != len(self.shape) or any(step < 0 for step in self.strides):
                raise fault(self.path, "bad_array", name=printable(self.name))
            last = sum((side - 1) * step for side, step in zip(self.shape, self.strides, strict=True))
            needed = (last + 1) * self.dtype.itemsize
        if needed > held or (self.strides is None and needed != held):
            raise fault(self.path, "bad_array", name=printable(self.name))


_maps: OrderedDict[tuple[str, int, int, int], npt.NDArray[np.uint8]] = OrderedDict()
_lock = Lock()


def mapped(path: Path) -> npt.NDArray[np.uint8]:
    """A file's bytes; the most recent files stay mapped."""
    try:
        found = os.stat(path)  # noqa: PTH116 (quicker, and this runs once for every array)
    except OSError as error:
        raise fault(path, "unreadable", reason=error.strerror or type(error).__name__) from None
    key = (str(path), found.st_ino, found.st_size, found.st_mtime_ns)
    with _lock:
        if key in _maps:
            _maps.move_to_end(key)
            return _maps[key]
    data = np.frombuffer(map_file(path), np.uint8)
    with _lock:
        _maps[key] = data
        while len(_maps) > _MOST_MAPPED:
            _maps.popitem(last=False)
    return data


def _joined(parts: Iterator[npt.NDArray[np.uint8]], dtype: DType) -> Iterator[Array]:
    """The elements of bytes in parts: a part may end in the middle of one."""
    left = np.zeros(0, np.uint8)
    for part in parts:
        if left.size:
            more = min(dtype.itemsize - left.size, part.size)
            left, part = np.concatenate([left, part[:more]]), part[more:]
            if left.size < dtype.itemsize:
                continue
            yield left.view(dtype)
        whole = part.size // dtype.itemsize * dtype.itemsize
        if whole:
            yield part[:whole].view(dtype)
        left = part[whole:]


def _inflating(path: Path, member: str, segments: Segments) -> Iterator[npt.NDArray[np.uint8]]:
    """The bytes of a compressed member that an array lies in, a piece at a time."""
    ((offset, size),) = segments
    for data in inflating(path, member):
        piece = np.frombuffer(data, np.uint8)[offset:][:size]
        offset = max(0, offset - len(data))
        size -= piece.size
        yield piece
    if size:
        raise fault(path, "cut_short")
