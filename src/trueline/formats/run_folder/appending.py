"""Writing that a kill at any moment cannot spoil: appends in one piece, and whole files put in place at once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from trueline.model.descriptor import OwnDescriptor

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND


def replace_file(path: Path, data: bytes) -> None:
    """The whole file at once: readers see the old one or the new one."""
    replace_by_pieces(path, (data,))


def replace_by_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """The same for a file that is never in memory as a whole."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = OwnDescriptor.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            for piece in pieces:
                file.write_all(piece)
            # What was taken away may be incomplete, and must not take the old file's place.
            file.proven()
        finally:
            file.close()
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
        self._file: OwnDescriptor | None = None

    def append(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        if self._file is None:
            self._file = OwnDescriptor.open(self.path, _NEW)
        self._file.write_all(data, size=self.size)
        self.size += len(data)

    def give_back(self) -> None:
        """Free what a failed append may have left behind, as far as that is possible."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(self.size)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def remove(self) -> None:
        """Let go of the file and delete it; the next bytes begin another one."""
        if self._file is not None:
            self.close()
            self.path.unlink()
            self.size = 0
