"""What the system tells of files that are opened below some folders, by whichever program: for readers in C++.

A process of its own (``python -m trueline.record.opened.listening LOG FOLDER…``), so that training shares neither its
thread nor its lock with it. It says ``ready`` when it listens, and ends when its stdin does.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.formats.manifest.opened_log import LISTENED, MISSED, READ, WRITTEN, record
from trueline.model.descriptor import OwnDescriptor
from trueline.record.opened.seen import Seen

_OPEN, _MODIFY, _CREATE = 0x20, 0x2, 0x100
_OVERFLOW, _IS_FOLDER = 0x4000, 0x40000000
_MASK: Final = _OPEN | _MODIFY | _CREATE
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 1 << 18


class _Inotify:
    """The system's notices, by the folder that each is about."""

    def __init__(self) -> None:
        self._system = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self._system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._places: dict[int, str] = {}

    def add(self, place: str) -> bool:
        """Listen to a file or folder; False where the system has no room for it."""
        number: int = self._system.inotify_add_watch(self.descriptor, os.fsencode(place), _MASK)
        if number >= 0:
            self._places.setdefault(number, place)
        return number >= 0

    def read(self) -> Iterator[tuple[int, str]]:
        """(what has happened, to which file), of all that waits."""
        try:
            data = os.read(self.descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            number, mask, _, length = _EVENT.unpack_from(data, at)
            name = os.fsdecode(data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0"))
            at += _EVENT.size + length
            place = self._places.get(number, "")
            yield mask, f"{place}/{name}" if name else place


def _listen_below(inotify: _Inotify, root: str, run: str) -> bool:
    """All folders below one but that of the run, links followed; False where some have no place."""
    fine = inotify.add(root)
    entered: set[tuple[int, int]] = set()
    for folder, below, _ in os.walk(root, followlinks=True):
        if folder == run:
            below.clear()
            continue
        try:
            status = os.stat(folder)  # noqa: PTH116
        except OSError:
            continue
        if (status.st_dev, status.st_ino) in entered:
            below.clear()
            continue
        entered.add((status.st_dev, status.st_ino))
        fine = inotify.add(folder) and fine
    return fine


class _Writer:
    def __init__(self, log: str, seen: Seen) -> None:
        self.run = log.rpartition("/")[0]
        self._log = OwnDescriptor.open(log, os.O_WRONLY | os.O_APPEND)
        self._seen = seen

    def note(self, kind: bytes, name: str = "") -> None:
        content = kind + os.fsencode(name)
        if self._seen.is_new(content):
            self._log.write_all(record(kind, content[1:]))


def _take(inotify: _Inotify, writer: _Writer) -> bool:
    """Write down what waits; whether there was anything."""
    some = False
    for mask, name in inotify.read():
        some = True
        if mask & _OVERFLOW:
            writer.note(MISSED)
        elif mask & _IS_FOLDER:
            if mask & _CREATE and not _listen_below(inotify, name, writer.run):
                writer.note(MISSED)
        elif mask & (_MODIFY | _CREATE):
            writer.note(WRITTEN, name)
        elif mask & _OPEN:
            writer.note(READ, name)
    return some


def main(log: str, seen: str, roots: Sequence[str]) -> None:
    """Listen until stdin ends."""
    writer = _Writer(log, Seen.open(seen))
    inotify = _Inotify()
    heard = [_listen_below(inotify, root, writer.run) for root in roots]
    writer.note(LISTENED if all(heard) else MISSED)
    # What the walk itself has opened are folders only.
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([inotify.descriptor, sys.stdin], [], [])
        if inotify.descriptor in ready:
            _take(inotify, writer)
        elif sys.stdin in ready and not os.read(sys.stdin.fileno(), 1):
            while _take(inotify, writer):
                pass
            return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
