"""A dataset of columns that are rows of files: its parts one after the other, its columns side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from trueline.data.source import Chunk, Column, Sample, Skipped
from trueline.data.sources.rows import CHUNK_BYTES, Rows
from trueline.model.trouble import BadFile

# A chunk of so many samples is enough to be quick.
CHUNK_SAMPLES: Final = 65536


@dataclass(frozen=True, slots=True)
class Part:
    """Samples that lie together: a split or a file. ``same`` are fields that have one value for all of them.

    ``records`` are rows whose fields, named ``inside``, are columns. A column that is shorter ends in None.
    """

    place: str
    length: int
    columns: Mapping[str, Rows]
    same: Sample = field(default_factory=dict)
    records: Rows | None = None
    inside: Sequence[str] = ()

    @property
    def row_bytes(self) -> int:
        """How many bytes a sample takes."""
        records = self.records.row_bytes if self.records is not None else 0
        return records + sum(rows.row_bytes for rows in self.columns.values())

    def read(self, start: int, stop: int, fields: Sequence[str]) -> dict[str, Column]:
        """Some of its samples."""
        found: dict[str, Column] = {}
        records = None
        if self.records is not None and any(name in self.inside for name in fields):
            records = np.asarray(self.records.read(start, stop))
        for name in fields:
            if records is not None and name in self.inside:
                found[name] = records[name]
            elif name in self.columns:
                found[name] = _filled(self.columns[name], start, stop)
            else:
                found[name] = [self.same.get(name)] * (stop - start)
        return found


def _filled(rows: Rows, start: int, stop: int) -> Column:
    end = min(stop, rows.length)
    found: Column | None = rows.read(start, end) if end > start else None
    if end == stop and found is not None:
        return found
    return [*(found if found is not None else ()), *([None] * (stop - max(start, end)))]


class ColumnSource:
    """The Source of such parts."""

    def __init__(
        self,
        name: str,
        kind: str,
        fields: Sequence[str],
        label: str | None,
        parts: Sequence[Part],
        skipped: Skipped,
        class_names: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.kind = kind
        self.fields = fields
        self.label = label
        self.class_names = class_names
        self.length = sum(part.length for part in parts)
        self.skipped = skipped
        self._damaged: set[str] = set()
        self._parts = parts

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Part by part; what of a part cannot be read any more is stepped over."""
        names = list(self.fields if fields is None else fields)
        at = 0
        for part in self._parts:
            many = max(1, min(CHUNK_SAMPLES, CHUNK_BYTES // max(1, part.row_bytes)))
            for start in range(0, part.length, many):
                stop = min(part.length, start + many)
                try:
                    columns = part.read(start, stop, names)
                except BadFile as trouble:
                    if part.place not in self._damaged:
                        self._damaged.add(part.place)
                        self.skipped.add("damaged_part", f"{part.place}: {trouble.reason}")
                    break
                yield Chunk(at + start, stop - start, columns)
            at += part.length

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """In the order of the file, so that what is compressed is read once; what cannot be read has no values."""
        found: dict[int, Sample] = {}
        for index in sorted(set(indexes)):
            at = 0
            for part in self._parts:
                if index < at + part.length:
                    break
                at += part.length
            else:
                raise IndexError(index)
            try:
                columns = part.read(index - at, index - at + 1, self.fields)
                found[index] = {name: column[0] for name, column in columns.items()}
            except BadFile:
                found[index] = dict.fromkeys(self.fields)
        return [found[index] for index in indexes]
