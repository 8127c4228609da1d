"""Where the elements of a named array lie in a file: small, picklable, and read only when asked."""

from __future__ import annotations

import math
import os
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

import ml_dtypes  # noqa: F401 (gives NumPy the names bfloat16 and float8_*)
import numpy as np
import numpy.typing as npt

from trueline.formats.files import fault, map_file

Array = npt.NDArray[Any]

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
    dtype: np.dtype[Any]
    path: Path
    segments: tuple[tuple[int, int], ...]
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

    def array(self) -> Array:
        """The array: a read-only view of the mapped file, or a copy where the file holds it compressed or in parts."""
        data = self.bytes()
        if self.strides is None:
            return data[: self.nbytes].view(self.dtype).reshape(self.shape)
        flat = data[: data.size // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype)
        strides = tuple(step * self.dtype.itemsize for step in self.strides)
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides, writeable=False)

    def bytes(self) -> npt.NDArray[np.uint8]:
        """The bytes its elements lie in."""
        if self.member is not None:
            whole = np.frombuffer(_inflated(self.path, self.member), np.uint8)
        else:
            whole = mapped(self.path)
        parts = [whole[offset : offset + size] for offset, size in self.segments]
        if any(part.size != size for part, (_, size) in zip(parts, self.segments, strict=True)):
            raise fault(self.path, "cut_short")
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else whole[:0]

    def check(self) -> None:
        """A BadFile where the elements do not fit into the segments; a reader calls this for each array it finds."""
        held = sum(size for _, size in self.segments)
        sides = [side for side in self.shape if side]
        if len(self.shape) > MAX_DIMENSIONS or math.prod(sides) * self.dtype.itemsize >= 1 << 63:
            raise fault(self.path, "bad_array", name=self.name[:200])
        needed = self.nbytes
        if self.strides is not None and self.count:
            if len(self.strides) != len(self.shape) or any(step < 0 for step in self.strides):
                raise fault(self.path, "bad_array", name=self.name[:200])
            last = sum((side - 1) * step for side, step in zip(self.shape, self.strides, strict=True))
            needed = (last + 1) * self.dtype.itemsize
        if needed > held or (self.strides is None and needed != held):
            raise fault(self.path, "bad_array", name=self.name[:200])


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


def _inflated(path: Path, member: str) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(member)
    except (OSError, KeyError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise fault(path, "bad_member", member=member[:200], reason=str(error)[:200]) from None
