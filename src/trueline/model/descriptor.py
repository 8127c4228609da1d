"""A file descriptor that is used only while it is still the file that it was opened for.

A script may close every descriptor that it knows nothing of, as programs do that become daemons. The number is then
that of whatever is opened next.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

_FIRST: Final = 3


class DescriptorLost(OSError):  # noqa: N818
    """The descriptor was closed by somebody else, and may be another file's by now."""

    def __init__(self) -> None:
        super().__init__(errno.EBADF, "closed by the script")


def check_descriptors(count: int) -> None:
    """An OSError where the process cannot have so many more."""
    taken: list[int] = []
    try:
        for _ in range(count):
            taken.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for number in taken:
            os.close(number)


class OwnDescriptor:
    """A descriptor by its number, its device and its inode; once it is another file's it is never touched again."""

    __slots__ = ("_identity", "_number")

    def __init__(self, number: int) -> None:
        self._number: int | None = number
        status = os.fstat(number)
        self._identity = status.st_dev, status.st_ino

    @classmethod
    def open(cls, path: str | Path, flags: int, mode: int = 0o666) -> OwnDescriptor:
        """As ``os.open`` does, but for the numbers of the standard streams: what is printed would land in the file."""
        number = os.open(path, flags, mode)
        if number < _FIRST:
            number, standard = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST), number
            os.close(standard)
        return cls(number)

    def proven(self, size: int = 0) -> int:
        """The number, as long as it is the same file, of at least this size; else a DescriptorLost.

        An inode is used again after its file was deleted: a file that has shrunk is another one.
        """
        if self._number is None:
            raise DescriptorLost
        try:
            status = os.fstat(self._number)
        except OSError:
            self._number = None
            raise DescriptorLost from None
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < size:
            self._number = None
            raise DescriptorLost
        return self._number

    def write_all(self, data: bytes | memoryview, *, size: int = 0) -> None:
        """All of the bytes, in one write where the system takes them in one; ``size`` is what the file has before."""
        rest = memoryview(data)
        while rest:
            written = os.write(self.proven(size), rest)
            size += written
            rest = rest[written:]

    def truncate(self, size: int) -> None:
        """Cut the file to its first bytes."""
        os.ftruncate(self.proven(size), size)

    def close(self) -> None:
        """Let go of it; one that is another file's by now is left alone."""
        try:
            number = self.proven()
        except DescriptorLost:
            return
        self._number = None
        os.close(number)
