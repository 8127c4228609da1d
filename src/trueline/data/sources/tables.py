"""Tables: CSV, TSV, Parquet and JSON lines, or a folder of such files, larger than memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from trueline.data.source import Chunk, Column, Sample, Skipped
from trueline.data.sources import parquet_files
from trueline.data.sources.cells import plain_column
from trueline.data.sources.duck import Duck
from trueline.data.sources.folders import Files
from trueline.data.sources.parquet_files import ParquetFile
from trueline.data.sources.relation import Form, Gaps, Relation, TableColumn
from trueline.data.sources.staging import Staging
from trueline.model.budget import Budget, OverBudget
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile, BadUsage

_KINDS: Final = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_PACKED: Final = ("csv", "jsonl")
# What other tools keep beside their tables is called so: _SUCCESS, .crc.
_BESIDE: Final = (".", "_")
_OTHER, _NOT_TOLD = "describe.other_kind", "beside"
# A chunk of so many rows, or of so many cells, is enough to be quick.
_ROWS, _CELLS = 65536, 4_000_000


def is_table(path: Path) -> bool:
    """Whether a path is called like a table, or is a folder of which most files are."""
    if path.is_dir():
        skipped = Skipped()
        tables = len(_files(path, skipped))
        return tables > 0 and tables >= skipped.counts.get(_OTHER, 0)
    return _kind(path) is not None


def open_table(path: Path, *, label: str | None = None, name: str | None = None) -> TableSource:
    """A table, or a folder of tables of one kind; a BadFile where nothing of it can be read."""
    if not path.exists():
        raise BadUsage("describe.no_such_file", path=str(path))
    skipped = Skipped()
    files = _files(path, skipped) if path.is_dir() else [path]
    counts = Counter(kind for file in files if (kind := _kind(file)) is not None)
    if not counts:
        raise BadFile(path, message("describe.no_table").text())
    kind = counts.most_common(1)[0][0]
    for file in files:
        if _kind(file) != kind:
            skipped.add(_OTHER, file.name)
    chosen = [file for file in files if _kind(file) == kind]
    size = sum(file.stat().st_size for file in chosen if file.is_file())
    duck = Duck(Budget(path, size), stores=kind != "parquet")
    try:
        source = TableSource(name or str(path), kind, chosen, duck, skipped)
        if label is not None and label not in source.fields:
            raise BadUsage("describe.no_such_field", field=label, name=str(path), fields=", ".join(source.fields))
        source.label = label
    except BaseException:
        duck.close()
        raise
    return source


def _kind(path: Path) -> str | None:
    if path.suffix.lower() != ".gz":
        return _KINDS.get(path.suffix.lower())
    inner = _KINDS.get(path.with_suffix("").suffix.lower())
    return inner if inner in _PACKED else None


def _files(folder: Path, skipped: Skipped) -> list[Path]:
    """The tables of a folder; other files, and links that lead nowhere or in a circle, are told."""

    def wanted(_: str, name: str) -> str | None:
        if name.startswith(_BESIDE):
            return _NOT_TOLD
        return None if _kind(Path(name)) is not None else _OTHER

    found = [folder / File for File in Files(folder, wanted, skipped)]
    for reasons in (skipped.counts, skipped.places):
        reasons.pop(_NOT_TOLD, None)
    return found


class TableSource:
    """The Source of a table; ``relation`` and ``duck`` are for those who ask in SQL.

    Rows that were stepped over keep their numbers: a sample is where it stands in its file, counted from 0.
    """

    label: str | None = None

    def __init__(self, name: str, kind: str, files: Sequence[Path], duck: Duck, skipped: Skipped) -> None:
        self.name = name
        self.kind = kind
        self.skipped = skipped
        self.duck = duck
        self.gaps = Gaps()
        self._parquet: list[ParquetFile] = []
        self._lost: set[Path] = set()
        self.relation = self._open_parquet(files) if kind == "parquet" else self._stage(files)
        if not self.relation.length:
            raise self._nothing()

    @property
    def fields(self) -> Sequence[str]:
        """The names of its columns."""
        return [column.name for column in self.relation.columns]

    @property
    def length(self) -> int:
        """How many samples could be read."""
        return self.relation.length

    def close(self) -> None:
        """Remove what was copied of it."""
        self.duck.close()

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Some thousand rows at a time."""
        known = {column.name: column for column in self.relation.columns}
        columns = [known[field] for field in (self.fields if fields is None else fields)]
        rows = max(1, min(_ROWS, _CELLS // max(1, len(columns))))
        for start, stop in self._pieces(rows):
            try:
                found = self.read(columns, start, stop)
            except OverBudget:
                raise
            except BadFile as trouble:
                # Of a file with a good footer pages may be damaged all the same.
                self._lose(Path(trouble.path))
                continue
            for begin, end in self.gaps.stretches(start, stop):
                part = found if end - begin == stop - start else _cut(found, begin - start, end - start)
                yield Chunk(int(self.gaps.samples(begin)), end - begin, part)

    def _pieces(self, rows: int) -> Iterator[tuple[int, int]]:
        """From where to where rows are read at once: not beyond a file, and nothing more of one that is damaged."""
        starts = parquet_files.offsets(self._parquet) if self._parquet else [0]
        for place, (first, last) in enumerate(pairwise([*starts, self.relation.length])):
            for start in range(first, last, rows):
                if self._parquet and self._parquet[place].path in self._lost:
                    break
                yield start, min(start + rows, last)

    def _lose(self, path: Path) -> None:
        if path not in self._lost:
            self._lost.add(path)
            self.skipped.add("describe.damaged_parquet", path.name)

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """Row by row; one that was stepped over, or cannot be read, has no values."""
        found: list[Sample] = []
        for row in self.gaps.rows(indexes):
            columns: Mapping[str, Column] = {name: [None] for name in self.fields}
            if row >= 0:
                try:
                    columns = self.read(self.relation.columns, int(row), int(row) + 1)
                except BadFile as trouble:
                    self._lose(Path(trouble.path))
            found.append({name: column[0] for name, column in columns.items()})
        return found

    def read(self, columns: Sequence[TableColumn], start: int, stop: int) -> dict[str, Column]:
        """Some rows of some columns; a BadFile where a Parquet file does not have them."""
        if not self._parquet:
            chosen = ", ".join(column.sql for column in columns)
            where = f"row BETWEEN {start} AND {stop - 1}"
            arrays = self.duck.arrays(f"SELECT {chosen} FROM {self.relation.sql} WHERE {where} ORDER BY row")
            return {column.name: plain_column(arrays[column.sql], column) for column in columns}
        parts = []
        for first, file in zip(parquet_files.offsets(self._parquet), self._parquet, strict=True):
            begin, end = max(start, first), min(stop, first + file.length)
            if begin < end:
                parts.append(parquet_files.read_part(self.duck, file, columns, begin - first, end - first))
        return {column.name: joined([plain_column(part[column.name], column) for part in parts]) for column in columns}

    def nulls_in_footers(self) -> dict[str, int]:
        """How many nulls the fields have of which the files say it themselves."""
        return parquet_files.nulls_in_footers(self.duck, self._parquet) if self._parquet else {}

    def drop_damaged(self) -> bool:
        """Leave out Parquet files that have a good footer and pages that cannot be read; whether there were such.

        A BadFile where none is left.
        """
        good = [file for file in self._parquet if parquet_files.can_be_read(self.duck, file)]
        for file in self._parquet:
            if file not in good:
                self._lose(file.path)
        if len(good) == len(self._parquet):
            return False
        self._parquet = good
        if not good:
            raise self._nothing()
        self.relation = parquet_files.together(good)
        return True

    def _nothing(self) -> BadFile:
        """What is wrong where there are no samples: the first thing that was stepped over."""
        reasons = [(Message(reason), places[0]) for reason, places in self.skipped.places.items() if places]
        if not reasons:
            return BadFile(self.name, message("describe.no_rows").text())
        reason, place = reasons[0]
        return BadFile(self.name, message("describe.nothing_read", reason=reason, place=place).text())

    def _open_parquet(self, files: Sequence[Path]) -> Relation:
        for path in files:
            found = parquet_files.read_footer(self.duck, path)
            if found is not None and parquet_files.RESERVED & {name.lower() for name in found.types}:
                raise BadFile(
                    path, message("describe.reserved", names=", ".join(sorted(parquet_files.RESERVED))).text()
                )
            if found is not None and found.length:
                self._parquet.append(found)
            else:
                empty = found is not None or path.stat().st_size == 0
                self.skipped.add("describe.empty_file" if empty else "describe.bad_footer", path.name)
        return parquet_files.together(self._parquet) if self._parquet else Relation("", "", (), 0)

    def _stage(self, files: Sequence[Path]) -> Relation:
        staging = Staging(self.duck, self.skipped, Form.JSON if self.kind == "jsonl" else Form.TEXT)
        for path in files:
            staging.add(path)
        self.gaps = staging.gaps
        return staging.relation()


def _cut(columns: Mapping[str, Column], begin: int, end: int) -> dict[str, Column]:
    return {name: column[begin:end] for name, column in columns.items()}


def joined(pieces: Sequence[Column]) -> Column:
    """Pieces of a column one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    arrays = [piece for piece in pieces if isinstance(piece, np.ndarray)]
    if len(arrays) == len(pieces) and len({array.dtype for array in arrays}) == 1:
        return np.concatenate(arrays)
    return [value for piece in pieces for value in piece]
