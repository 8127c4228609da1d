"""A folder in which each file is a sample, and the sub-folders are the classes, where there are any."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.data.source import Cell, Chunk, Column, Sample, Skipped
from trueline.data.sources.folders import Files, Wanted
from trueline.data.sources.judged import Judged
from trueline.data.sources.labels import choose_label
from trueline.data.sources.pictures import THREADS, TooLarge
from trueline.model.message import message
from trueline.model.trouble import BadFile

_CHUNK_SAMPLES: Final = 512
_CHUNK_BYTES: Final = 32 << 20
# What is larger does not wait beside others.
_MOST_WAITING: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Read:
    """What a file holds, how many bytes of memory that takes, and the reason why it could not be read."""

    value: Cell
    size: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of files: the source's kind, the field's name, which files they are, and how one is read."""

    kind: str
    field: str
    wanted: Wanted
    # A TooLarge for one that takes more than so many bytes of memory, where that is said.
    read: Callable[[Path, str, int | None], Read]
    # The message where there are none.
    none: str


class SampleFiles:
    """The Source of such a folder; a file that cannot be read keeps its place and its label."""

    def __init__(self, path: Path, name: str, sort: Sort, label: str | None = None) -> None:
        self.name = name
        self.kind = sort.kind
        self.skipped = Skipped()
        self._root = path
        self._sort = sort
        self._files = Files(path, sort.wanted, self.skipped)
        if not self._files.length:
            raise BadFile(path, message(sort.none).text())
        self._judged = Judged(self.skipped)
        self.length = self._files.length
        self.fields = [sort.field]
        self.fields += ["label"] if self._files.has_labels else []
        self.fields += ["split"] if self._files.has_splits else []
        self.label = choose_label(name, self.fields, label)

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """In the order of their paths, a few read at once; for labels alone nothing is opened."""
        names = list(self.fields if fields is None else fields)
        start, size = 0, 0
        paths: list[str] = []
        values: list[Cell] = []
        for path, read in self._read() if self._sort.field in names else ((file, None) for file in self._files):
            paths.append(path)
            if read is not None:
                values.append(read.value)
                size += read.size
                self._judged.look("", start + len(values) - 1, read.reason, path)
            if len(paths) == _CHUNK_SAMPLES or size >= _CHUNK_BYTES:
                yield Chunk(start, len(paths), self._columns(names, paths, values))
                start, paths, values, size = start + len(paths), [], [], 0
        if paths:
            yield Chunk(start, len(paths), self._columns(names, paths, values))

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """Each from its own file."""
        found: list[Sample] = []
        for index in indexes:
            if not 0 <= index < self.length:
                raise IndexError(index)
            path = self._files.at(index)
            columns = self._columns(self.fields, [path], [self._sort.read(self._root, path, None).value])
            found.append({name: column[0] for name, column in columns.items()})
        return found

    def _columns(self, names: Sequence[str], paths: list[str], values: list[Cell]) -> dict[str, Column]:
        given = {"label": self._files.label, "split": self._files.split}
        return {name: [given[name](path) for path in paths] if name in given else values for name in names}

    def _read(self) -> Iterator[tuple[str, Read]]:
        waiting: deque[tuple[str, Future[Read]]] = deque()
        with ThreadPoolExecutor(THREADS) as threads:
            for path in self._files:
                waiting.append((path, threads.submit(self._sort.read, self._root, path, _MOST_WAITING)))
                if len(waiting) > 2 * THREADS:
                    yield self._taken(*waiting.popleft())
            while waiting:
                yield self._taken(*waiting.popleft())

    def _taken(self, path: str, read: Future[Read]) -> tuple[str, Read]:
        try:
            return path, read.result()
        except TooLarge:
            # Many such at once would be more than memory holds: each when it is its turn.
            return path, self._sort.read(self._root, path, None)
