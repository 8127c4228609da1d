"""Writing that a kill at any moment cannot spoil: appends in one piece, and whole files put in place at once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """All of the bytes, in one write where the system takes them in one."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace_file(path: Path, data: bytes) -> None:
    """The whole file at once: readers see the old one or the new one."""
    replace_by_pieces(path, (data,))


def replace_by_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """The same for a file that is never in memory as a whole."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            for piece in pieces:
                write_all(descriptor, piece)
        finally:
            os.close(descriptor)
        part.replace(path)
    finally:
        # Renamed by now, or not wanted.
        with contextlib.suppress(OSError):
            part.unlink()


class Appender:
    """A file that only grows; created by its first bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._descriptor: int | None = None

    def append(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        if self._descriptor is None:
            self._descriptor = os.open(self.path, _NEW, 0o666)
        write_all(self._descriptor, data)
        self.size += len(data)

    def give_back(self) -> None:
        """Free what a failed append may have left behind, as far as that is possible."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self.size)

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def remove(self) -> None:
        """Let go of the file and delete it; the next bytes begin another one."""
        if self._descriptor is not None:
            self.close()
            self.path.unlink()
            self.size = 0
