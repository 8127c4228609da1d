"""The files of a folder, each a sample: counted when it is opened, listed again folder by folder when it is read."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final

from trueline.data.source import Skipped
from trueline.data.sources.labels import SPLITS

_DEEPEST: Final = 64

# Whether a file of this folder and name is a sample; else the reason why it is stepped over.
Wanted = Callable[[str, str], str | None]


class Files:
    """The samples below a folder in a stable order; memory holds the folders, not the files."""

    def __init__(self, root: Path, wanted: Wanted, skipped: Skipped) -> None:
        self._root = str(root)
        self._wanted = wanted
        self._folders: list[str] = []
        counts: list[int] = []
        for folder, count in self._walk(skipped):
            self._folders.append(folder)
            counts.append(count)
        self._ends = list(accumulate(counts))
        self._listed: tuple[str, list[str]] | None = None
        tops = {folder.split("/")[0] for folder in self._folders}
        # train and test are no classes, unless nothing lies below them.
        self.has_splits = bool(tops) and all(
            top.lower() in SPLITS and any(folder.startswith(f"{top}/") for folder in self._folders) for top in tops
        )
        self.has_labels = self.has_splits or any(self._folders)

    @property
    def length(self) -> int:
        """How many samples there are."""
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[str]:
        """Their paths below the folder."""
        for folder, count in zip(self._folders, self._counts(), strict=True):
            names = self._names(folder)
            # What has come since it was counted would shift the numbers of all others.
            yield from names[:count]
            yield from [""] * (count - len(names))

    def at(self, index: int) -> str:
        """The path of one of them; empty where it is gone."""
        which = bisect_right(self._ends, index)
        names = self._names(self._folders[which])
        place = index - (self._ends[which - 1] if which else 0)
        return names[place] if place < len(names) else ""

    def label(self, path: str) -> str | None:
        """The class that a file lies in: the first folder of its path, or the first below train, test …"""
        folders = path.split("/")[:-1][1 if self.has_splits else 0 :]
        return folders[0] if folders else None

    def split(self, path: str) -> str:
        """The part of the dataset it lies in."""
        return path.split("/", 1)[0]

    def _counts(self) -> Iterator[int]:
        return (end - begin for begin, end in zip([0, *self._ends], self._ends, strict=False))

    def _names(self, folder: str) -> list[str]:
        if self._listed is None or self._listed[0] != folder:
            names, _ = self._list(folder, Skipped())
            self._listed = (folder, names)
        return self._listed[1]

    def _walk(self, skipped: Skipped) -> Iterator[tuple[str, int]]:
        """Folders with samples in them; links to folders are followed, but not in a circle."""
        waiting: list[tuple[str, tuple[tuple[int, int], ...]]] = [("", ())]
        while waiting:
            folder, above = waiting.pop()
            try:
                found = os.stat(f"{self._root}/{folder}")  # noqa: PTH116
            except OSError:
                skipped.add("unreadable_folder", folder or ".")
                continue
            this = (found.st_dev, found.st_ino)
            if this in above or len(above) > _DEEPEST:
                skipped.add("link_loop", folder)
                continue
            names, inner = self._list(folder, skipped)
            if names:
                yield folder, len(names)
            elif not inner:
                skipped.add("empty_folder", folder or ".")
            waiting += [(folder, (*above, this)) for folder in reversed(inner)]

    def _list(self, folder: str, skipped: Skipped) -> tuple[list[str], list[str]]:
        """The samples of one folder, and the folders in it, as paths below the root."""
        names: list[str] = []
        inner: list[str] = []
        before = f"{folder}/" if folder else ""
        where = f"{self._root}/{folder}"
        try:
            entries = sorted(os.scandir(where), key=lambda entry: entry.name)
        except OSError:
            skipped.add("unreadable_folder", folder or ".")
            return [], []
        for entry in entries:
            reason = self._reason(where, entry)
            if reason is None:
                names.append(before + entry.name)
            elif reason:
                skipped.add(reason, before + entry.name)
            else:
                inner.append(before + entry.name)
        return names, inner

    def _reason(self, where: str, entry: os.DirEntry[str]) -> str | None:
        """Why an entry is no sample; empty for a folder."""
        try:
            if entry.is_dir():
                return ""
            if entry.is_file():
                return self._wanted(where, entry.name)
        except OSError:
            return "link_loop"
        return "dead_link" if entry.is_symlink() else "not_a_file"
