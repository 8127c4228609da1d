"""Files that appear only when they are complete, all of them or none."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trueline.formats.files import fault
from trueline.formats.outgoing import Outgoing
from trueline.model.descriptor import OwnDescriptor
from trueline.model.trouble import BadFile

Progress = Callable[[int], None]
# The rest of a part's name needs room too, and a letter may take four bytes.
_LONGEST = 50


class Sink:
    """A file in the making; ``position`` is how many bytes it has."""

    def __init__(self, path: Path, part: Path, progress: Progress | None) -> None:
        self.path = path
        self.part = part
        self.position = 0
        self._progress = progress
        self._file = OwnDescriptor.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL)

    def write(self, data: bytes | memoryview) -> None:
        """Bytes at the end."""
        self._file.write_all(data)
        self.position += len(data)

    def patch(self, position: int, data: bytes) -> None:
        """Other bytes in the place of ones already written."""
        os.pwrite(self._file.proven(), data, position)

    def pour(self, array: Outgoing) -> None:
        """An array's elements at the end."""
        for piece in array.pieces():
            self.write(piece.data)
            if self._progress is not None:
                self._progress(piece.size)

    def pour_summed(self, array: Outgoing, crc: int = 0) -> int:
        """An array's elements at the end; returns their CRC-32, going on from the one given."""
        for piece in array.pieces():
            crc = zlib.crc32(piece.data, crc)
            self.write(piece.data)
            if self._progress is not None:
                self._progress(piece.size)
        return crc

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class Making:
    """Hands out sinks; their files get their names at the end, in the order in which they were asked for."""

    def __init__(self, *, force: bool, progress: Progress | None) -> None:
        self._force = force
        self._progress = progress
        self._sinks: list[Sink] = []

    def sink(self, path: Path) -> Sink:
        """A new file that is to be at ``path``."""
        # The number keeps two of one name apart, and the dot keeps half a file out of sight.
        part = path.with_name(f".{path.name[:_LONGEST]}.{os.getpid()}.{len(self._sinks)}.part")
        try:
            self._sinks.append(Sink(path, part, self._progress))
        except OSError as error:
            raise _unwritable(path, error) from None
        return self._sinks[-1]

    def finish(self) -> None:
        """All files are whole: give them their names."""
        for sink in self._sinks:
            sink.close()
        # All of them or none.
        with contextlib.ExitStack() as undoing:
            for sink in self._sinks:
                if self._force:
                    sink.part.replace(sink.path)
                else:
                    _name(sink.part, sink.path)
                    undoing.callback(sink.path.unlink, missing_ok=True)
            undoing.pop_all()

    def leave_nothing(self) -> None:
        """Remove what has no name yet."""
        for sink in self._sinks:
            sink.close()
            with contextlib.suppress(OSError):
                sink.part.unlink()


@contextmanager
def making(path: Path, *, force: bool = False, progress: Progress | None = None) -> Iterator[Making]:
    """Around writing to ``path`` and what lies beside it; whatever goes wrong in here leaves nothing behind."""
    made = Making(force=force, progress=progress)
    try:
        yield made
        made.finish()
    except OSError as error:
        # What a reader could not read is a BadFile of its own by now.
        raise _unwritable(path, error) from None
    finally:
        made.leave_nothing()


def _unwritable(path: Path, error: OSError) -> BadFile:
    return fault(path, "unwritable", reason=error.strerror or type(error).__name__)


def check_room(path: Path, size: int) -> None:
    """A BadFile where the disk has no room for so many bytes: nobody wants to hear of it after the work."""
    free = shutil.disk_usage(path.absolute().parent).free
    if size > free:
        raise fault(path, "no_room", needed=size, free=free)


def _name(part: Path, path: Path) -> None:
    """Give a file its name, unless there is one of that name by now."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise fault(path, "exists") from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        # A file system without links.
        if path.exists():
            raise fault(path, "exists") from None
        part.replace(path)
