"""A dataset in memory, for what is to be described chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trueline.data.source import Chunk, Column, Skipped


class MemorySource:
    """The Source of some columns, ``size`` samples at a time."""

    kind = "factory"

    def __init__(self, columns: Mapping[str, Column], label: str | None = None, size: int = 7) -> None:
        self.name = "memory"
        self.label = label
        self.skipped = Skipped()
        self.fields: Sequence[str] = list(columns)
        self.length = len(next(iter(columns.values())))
        self._columns = columns
        self._size = size

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        for start in range(0, self.length, self._size):
            stop = min(self.length, start + self._size)
            names = self.fields if fields is None else fields
            yield Chunk(start, stop - start, {name: self._columns[name][start:stop] for name in names})

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, Any]]:
        return [{name: column[index] for name, column in self._columns.items()} for index in indexes]
