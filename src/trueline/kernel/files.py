"""Small files by the batch, read and hashed by the native code while other threads run."""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Sequence
from typing import Final

from trueline.kernel.library import WANTED, library

TOO_LARGE: Final = -(1 << 63)
_in_use = library is not None and WANTED


def native_files() -> bool:
    """The native code was built and is in use; TRUELINE_KERNEL=numpy turns it off."""
    return _in_use


def use_native_files(wanted: bool) -> None:
    """Choose the native way, where there is one, or none for this process."""
    global _in_use
    _in_use = wanted and library is not None


class StopFlag:
    """Raised by one thread, and heeded by the native code before the next file."""

    def __init__(self) -> None:
        self._value = ctypes.c_int32(0)
        self.address: Final = ctypes.addressof(self._value)

    def __bool__(self) -> bool:
        return bool(self._value.value)

    def set(self) -> None:
        """Let it end."""
        self._value.value = 1


class BatchReader:
    """One thread's way to read whole files into ``buffer``, each of less than ``most`` bytes; it knows the last ones.

    ``starts`` and ``sizes`` say where in the buffer they are. A size below 0 is that of a file that is not there: an
    errno with a minus in front, or TOO_LARGE, and then ``starts`` has the size that the system told.
    """

    def __init__(self, buffer: bytearray, most: int, count: int) -> None:
        assert most < len(buffer)
        self.starts = array("q", bytes(8 * count))
        self.sizes = array("q", bytes(8 * count))
        self._most = most
        # Kept, so that the buffer stays where it is.
        self._buffer = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        self._at = ctypes.addressof(self._buffer)
        self._starts_at, self._sizes_at = self.starts.buffer_info()[0], self.sizes.buffer_info()[0]

    def read(self, base: str, names: Sequence[str], stop: StopFlag) -> int:
        """Read as many of the files as there is room for, and say how many these are; ``base`` stands before names
        that do not begin with a slash.
        """
        assert 0 < len(names) <= len(self.sizes)
        block = os.fsencode("\0".join(names))
        if "\0" in base or block.count(b"\0") != len(names) - 1:
            # As Python says it where it opens one such file.
            raise ValueError("embedded null byte")
        return int(
            library.tl_read_files(
                os.fsencode(base),
                block,
                len(names),
                self._at,
                len(self._buffer),
                self._most,
                stop.address,
                self._starts_at,
                self._sizes_at,
            )
        )

    def md5_into(self, digests: bytearray, place: int, count: int) -> None:
        """The MD5 of the first ``count`` of the files that were read; nothing is written of those that could not be."""
        assert 0 < count <= len(self.sizes) and place >= 0 and (place + count) * 16 <= len(digests)
        to = ctypes.c_char.from_buffer(digests, place * 16)
        library.tl_md5_many(self._at, self._starts_at, self._sizes_at, count, ctypes.addressof(to))
