"""What processes of a run have opened, as they wrote it down while it ran: records that end with a zero byte.

Each record is appended in one piece, by whichever process has opened the file, so that a list is there up to the last
moment however the run ends.
"""

from __future__ import annotations

import json
import os
import stat
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.formats.files import opened
from trueline.formats.manifest.listed import Manifest, Unread, escaped, unescaped
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile

HEAD: Final = b"h"
READ: Final = b"r"
WRITTEN: Final = b"w"
# Folders and files that a reader outside of Python was told to read.
NAMED: Final = b"n"
# Some openings were not seen: the system had more to tell than was taken from it.
MISSED: Final = b"m"
# The system tells of every file that is opened below the roots.
LISTENED: Final = b"l"
# A package that opens files without Python hearing of it.
UNSEEN: Final = b"u"
_PIECE: Final = 1 << 20
# A path, or the head of a list, is far shorter.
_LONGEST: Final = 4 << 20
_MAX_NAMED_FILES: Final = 3


@dataclass(frozen=True, slots=True)
class Head:
    """Where and when a list was begun; ``roots`` are the folders that it is about, all of them where there are none."""

    host: str
    folder: str
    started_ns: int
    rank: int = 0
    roots: Sequence[str] = ()

    def to_bytes(self) -> bytes:
        """As the first record."""
        roots = [escaped(root) for root in self.roots]
        shape = {"host": self.host, "folder": escaped(self.folder), "started_ns": self.started_ns, "rank": self.rank}
        return record(HEAD, json.dumps({**shape, "roots": roots}).encode())


def record(kind: bytes, content: bytes) -> bytes:
    """One record."""
    return kind + content + b"\0"


@dataclass(slots=True)
class _Logged:
    head: Head | None = None
    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    listened: bool = False
    missed: bool = False


def gather(logs: Sequence[Path]) -> Manifest | None:
    """The files that were read, as they lie there now, named within the first root; None where nothing is written."""
    found = _Logged()
    for log in logs:
        for kind, content in _records(log):
            _take(found, kind, content)
    if found.head is None:
        return None
    own = f"{logs[0].parent.absolute()}/"
    found.read = {path for path in found.read if not path.startswith(own)}
    return _listed(found, found.head)


def _take(found: _Logged, kind: bytes, content: bytes) -> None:
    if kind == HEAD:
        found.head = found.head or _head(content)
        return
    text = os.fsdecode(content)
    if kind == READ:
        found.read.add(os.path.normpath(text))
    elif kind == WRITTEN:
        found.written.add(os.path.normpath(text))
    elif kind == NAMED:
        found.named.add(os.path.normpath(text))
    elif kind == UNSEEN:
        found.unseen.add(text)
    elif kind == LISTENED:
        found.listened = True
    elif kind == MISSED:
        found.missed = True


def _records(log: Path) -> Iterator[tuple[bytes, bytes]]:
    rest = b""
    try:
        with opened(log) as file:
            while piece := file.read(_PIECE):
                # What follows the last zero byte was being written when the process was killed.
                *whole, rest = (rest + piece).split(b"\0")
                if len(rest) > _LONGEST:
                    return
                yield from ((one[:1], one[1:]) for one in whole if one)
    except (OSError, BadFile):
        return


def _head(content: bytes) -> Head | None:
    try:
        found = json.loads(content)
        roots = tuple(unescaped(one) for one in found["roots"])
        folder = unescaped(found["folder"])
        if any(b"\0" in os.fsencode(one) for one in (folder, *roots)):
            return None
        return Head(str(found["host"]), folder, int(found["started_ns"]), int(found["rank"]), roots)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def rank_of_log(log: Path) -> int:
    """The rank whose list it is."""
    found = _Logged()
    for kind, content in _records(log):
        _take(found, kind, content)
        break
    return found.head.rank if found.head is not None else 0


class _Roots:
    """What lies below the folders that a list is about, and its name there."""

    def __init__(self, head: Head) -> None:
        self._roots = [(root, os.path.realpath(root)) for root in head.roots]
        self.base = head.roots[0] if len(head.roots) == 1 else head.folder
        self._real: dict[str, str] = {}

    def name(self, path: str) -> str | None:
        """None for a file outside."""
        if not self._roots:
            return _within(self.base, path) or path
        folder, _, last = path.rpartition("/")
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        real = f"{self._real[folder]}/{last}"
        for root, real_root in self._roots:
            inside = _within(root, path)
            if inside is None:
                inside = _within(real_root, real)
            if inside is not None:
                return inside if len(self._roots) == 1 else _within(self.base, path) or path
        return None


def _within(folder: str, path: str) -> str | None:
    if path == folder:
        return path.rpartition("/")[2]
    beginning = folder.rstrip("/") + "/"
    return path[len(beginning) :] if path.startswith(beginning) else None


def _listed(found: _Logged, head: Head) -> Manifest:
    roots = _Roots(head)
    # Where every opening was heard, what a reader was merely told to read says nothing more.
    named = set() if found.listened and not found.missed else set(_below(found.named)) - found.read
    unread: list[Unread] = []
    rows: dict[str, os.stat_result] = {}
    names_only: set[str] = set()
    changed: list[str] = []
    for path in (found.read | named) - found.written:
        name = roots.name(path)
        if name is None:
            continue
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:
            unread.append(Unread(name, "vanished"))
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        if status.st_mtime_ns >= head.started_ns:
            # Not all that writes does so through Python.
            changed.append(name)
            continue
        rows[name] = status
        if path in named:
            names_only.add(name)
    names = sorted(rows)
    return Manifest(
        roots.base,
        names,
        array("q", (rows[name].st_size for name in names)),
        {},
        sorted(unread, key=lambda one: one.path),
        head.host,
        array("q", (rows[name].st_mtime_ns for name in names)),
        frozenset(names_only),
        list(_notes(found, sorted(changed), len(names_only))),
    )


def _below(places: set[str]) -> Iterator[str]:
    for place in places:
        # Of a name that is too long, or holds what no name does, os.path says no where a Path raises.
        if not os.path.isdir(place):  # noqa: PTH112
            yield place
            # MindRecord keeps an index beside each of its files.
            if os.path.isfile(f"{place}.db"):  # noqa: PTH113
                yield f"{place}.db"
            continue
        for folder, _, files in os.walk(place):
            yield from (f"{folder}/{name}" for name in files)


def _notes(found: _Logged, changed: Sequence[str], named: int) -> Iterator[Message]:
    if found.missed:
        yield message("manifest.note_missed")
    if found.unseen and not found.listened:
        yield message("manifest.note_unseen", packages=", ".join(sorted(found.unseen)))
    if named:
        yield message("manifest.note_named", count=named)
    if changed:
        yield message("manifest.note_changed", count=len(changed), first=", ".join(changed[:_MAX_NAMED_FILES]))
