"""The files below a folder, by name: every link is followed once, and what cannot be entered is named."""

from __future__ import annotations

import errno
import os
import stat
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trueline.formats.files import fault, unreadable
from trueline.formats.manifest.listed import UNKNOWN, Unread

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
_FORBIDDEN = (errno.EACCES, errno.EPERM)


@dataclass(slots=True)
class Listing:
    """Names with their sizes, UNKNOWN where nobody has asked for them; ``root`` is what they are relative to."""

    root: str
    names: list[str] = field(default_factory=list)
    sizes: array[int] = field(default_factory=lambda: array("q"))
    unread: list[Unread] = field(default_factory=list)

    def add(self, name: str, size: int) -> None:
        """One more file."""
        self.names.append(name)
        self.sizes.append(size)

    def in_order(self) -> Listing:
        """Sorted by name, each name once."""
        names = self.names
        order = sorted(range(len(names)), key=names.__getitem__)
        order = [place for at, place in enumerate(order) if not at or names[place] != names[order[at - 1]]]
        return Listing(
            self.root,
            [names[place] for place in order],
            array("q", map(self.sizes.__getitem__, order)),
            sorted(self.unread, key=lambda unread: unread.path),
        )

    def without(self, file: Path) -> Listing:
        """All but this file, where it is one of them: a list does not speak of itself."""
        name = os.path.relpath(file, self.root or ".")
        if name not in self.names:
            return self
        places = [place for place, one in enumerate(self.names) if one != name]
        kept = array("q", map(self.sizes.__getitem__, places))
        return Listing(self.root, [self.names[place] for place in places], kept, self.unread)


def list_paths(paths: Sequence[Path], *, sizes: bool = True) -> Listing:
    """The files of one folder, named within it; or of several files and folders, named as they were given.

    Without ``sizes`` files are not asked for theirs: whoever reads them learns it anyway.
    """
    if len(paths) == 1 and paths[0].is_dir():
        found = Listing(str(paths[0]))
        _Walk(found, sizes=sizes).folder("")
        return found.in_order()
    found = Listing("")
    for path in paths:
        try:
            status = path.stat()
        except OSError as error:
            raise unreadable(path, error) from None
        name = os.path.normpath(path)
        if stat.S_ISDIR(status.st_mode):
            _Walk(found, sizes=sizes).folder(name)
        elif stat.S_ISREG(status.st_mode):
            found.add(name, status.st_size)
        else:
            raise fault(path, "not_a_file")
    return found.in_order()


def why_unread(name: str, error: OSError) -> Unread:
    """What became of a file or folder that the system does not give out."""
    if error.errno in _GONE:
        return Unread(name, "vanished")
    if error.errno in _FORBIDDEN:
        return Unread(name, "forbidden")
    if error.errno == errno.ELOOP:
        return Unread(name, "loop")
    return Unread(name, "unreadable", error.strerror or type(error).__name__)


class _Walk:
    """From one folder down: first the folders themselves, then what links lead to, each link once."""

    def __init__(self, found: Listing, *, sizes: bool) -> None:
        self._found = found
        self._sizes = sizes
        self._followed: set[tuple[int, int]] = set()
        self._links: list[str] = []

    def folder(self, name: str) -> None:
        """All below a folder of this name."""
        self._below(name)
        while self._links:
            # Sorted, so that the same tree gives the same list wherever it lies.
            links, self._links = sorted(self._links), []
            for link in links:
                self._follow(link)

    def _below(self, top: str) -> None:
        waiting = [top]
        while waiting:
            name = waiting.pop()
            try:
                with os.scandir(self._place(name)) as entries:
                    self._enter(f"{name}/" if name else "", entries, waiting)
            except OSError as error:
                self._found.unread.append(why_unread(name or ".", error))

    def _enter(self, prefix: str, entries: os._ScandirIterator[str], waiting: list[str]) -> None:
        names, sizes = self._found.names, self._found.sizes
        for entry in entries:
            name = prefix + entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                    continue
                if not self._sizes and entry.is_file(follow_symlinks=False):
                    names.append(name)
                    sizes.append(UNKNOWN)
                    continue
                status = entry.stat()
            except OSError as error:
                dangling = error.errno == errno.ENOENT and entry.is_symlink()
                self._found.unread.append(Unread(name, "dangling") if dangling else why_unread(name, error))
                continue
            if stat.S_ISREG(status.st_mode):
                names.append(name)
                sizes.append(status.st_size)
            elif stat.S_ISDIR(status.st_mode):
                self._links.append(name)
            else:
                self._found.unread.append(Unread(name, "special"))

    def _follow(self, name: str) -> None:
        place = self._place(name)
        try:
            link = os.lstat(place)
        except OSError as error:
            self._found.unread.append(why_unread(name, error))
            return
        if self._leads_back(name):
            self._found.unread.append(Unread(name, "loop"))
        elif (link.st_dev, link.st_ino) in self._followed:
            self._found.unread.append(Unread(name, "followed"))
        else:
            self._followed.add((link.st_dev, link.st_ino))
            self._below(name)

    def _leads_back(self, name: str) -> bool:
        """Whether a link leads to a folder that it lies in itself."""
        target = Path(self._place(name)).resolve()
        parent = name
        while parent:
            parent = parent.rpartition("/")[0]
            if Path(self._place(parent)).resolve().is_relative_to(target):
                return True
        return False

    def _place(self, name: str) -> str:
        return os.path.join(self._found.root, name) if name else self._found.root or "."  # noqa: PTH118
