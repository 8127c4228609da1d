"""Which names were written down already: a table in memory that all processes of a run share, however started."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

from trueline.model.descriptor import OwnDescriptor

_CELL: Final = 8
_CELLS: Final = 1 << 22
_TRIES: Final = 32


class Seen:
    """A set of 64-bit numbers that only grows. Two processes may both think that they are first: no harm is done."""

    def __init__(self, descriptor: int) -> None:
        self._cells = (ctypes.c_uint64 * _CELLS).from_address(_mapped(descriptor))

    @classmethod
    def create(cls) -> tuple[Seen, str]:
        """An empty one, and where another process finds it."""
        # Only the pages that are written to take memory.
        descriptor = os.memfd_create("trueline-opened")
        os.ftruncate(descriptor, _CELLS * _CELL)
        return cls(descriptor), f"{_identity(descriptor)}:/proc/{os.getpid()}/fd/{descriptor}"

    @classmethod
    def open(cls, place: str) -> Seen:
        """The one of the process that has begun the list, or where it is out of reach one of its own."""
        identity, _, path = place.partition(":")
        try:
            file = OwnDescriptor.open(path, os.O_RDWR)
        except OSError:
            return cls.create()[0]
        try:
            # The script may have closed it, and the number is then that of a file of its own.
            return cls(file.proven()) if _identity(file.proven()) == identity else cls.create()[0]
        except (OSError, ValueError):
            return cls.create()[0]
        finally:
            file.close()

    def is_new(self, content: bytes, counts: Callable[[], bool] = lambda: True) -> bool:
        """Whether it was not there yet; it is from now on, if it ``counts``, which is asked of new ones only."""
        number = int.from_bytes(blake2b(content, digest_size=_CELL).digest(), "little") or 1
        place = number % _CELLS
        for _ in range(_TRIES):
            held = self._cells[place]
            if held == number:
                return False
            if not held:
                if not counts():
                    return False
                self._cells[place] = number
                return True
            place = (place + 1) % _CELLS
        # It is full: better written down twice than not at all.
        return counts()


def _identity(descriptor: int) -> str:
    status = os.fstat(descriptor)
    return f"{status.st_dev}-{status.st_ino}"


def _mapped(descriptor: int) -> int:
    """The address of the file's memory, which stays until the process ends.

    Python's own mapping keeps a second descriptor, and closes that number whatever has become of it.
    """
    map_file = ctypes.CDLL(None, use_errno=True).mmap
    map_file.restype = ctypes.c_void_p
    map_file.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    if os.fstat(descriptor).st_size < _CELLS * _CELL:
        raise ValueError("too short")
    both = mmap.PROT_READ | mmap.PROT_WRITE
    address: int = map_file(None, _CELLS * _CELL, both, mmap.MAP_SHARED, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return address
