"""Which names were written down already: a table in memory that all processes of a run share, however started."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

_CELL: Final = 8
_CELLS: Final = 1 << 22
_TRIES: Final = 32


class Seen:
    """A set of 64-bit numbers that only grows. Two processes may both think that they are first: no harm is done."""

    def __init__(self, descriptor: int) -> None:
        self._cells = memoryview(mmap.mmap(descriptor, _CELLS * _CELL)).cast("Q")

    @classmethod
    def create(cls) -> tuple[Seen, str]:
        """An empty one, and where another process finds it."""
        # Only the pages that are written to take memory.
        descriptor = os.memfd_create("trueline-opened")
        os.ftruncate(descriptor, _CELLS * _CELL)
        return cls(descriptor), f"/proc/{os.getpid()}/fd/{descriptor}"

    @classmethod
    def open(cls, place: str) -> Seen:
        """The one of the process that has begun the list, or where it is out of reach one of its own."""
        try:
            descriptor = os.open(place, os.O_RDWR)
        except OSError:
            return cls.create()[0]
        try:
            return cls(descriptor)
        except (OSError, ValueError):
            return cls.create()[0]
        finally:
            os.close(descriptor)

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
