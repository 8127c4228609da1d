"""MindRecord as a dataset: a file with all its shards, or the files of a folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from trueline.data.source import Cell, Chunk, Column, Sample, Skipped, Source
from trueline.data.sources.images import looks_like_image
from trueline.data.sources.judged import Judged
from trueline.data.sources.labels import choose_label
from trueline.data.sources.pictures import decode_bytes, has_pillow
from trueline.formats.files import opened
from trueline.formats.mindrecord import MindRecord, looks_like_mindrecord
from trueline.formats.printable import is_plain_name, printable
from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.model.trouble import BadFile

_CHUNK_SAMPLES: Final = 4096
_CHUNK_BYTES: Final = 16 << 20
# Rows of an index are counted in far fewer steps than it has bytes; a hostile one could count for ever.
_LEAST_STEPS: Final = 1_000_000
# No value of an index is longer.
_MOST_VALUE: Final = 1 << 20


def open_mindrecord(path: Path, name: str, label: str | None = None) -> Source:
    """A file and the shards that it names, or all such files of a folder."""
    skipped = Skipped()
    paths = mindrecords_in(path, [entry.name for entry in path.iterdir()]) if path.is_dir() else [path]
    files: dict[Path, MindRecord] = {}
    for one in paths:
        for found in _with_shards(one, skipped, alone=not path.is_dir()):
            files.setdefault(found.path, found)
    if not files:
        raise BadFile(path, message("sources.no_rows").text())
    return MindRecordSource(name, list(files.values()), label, skipped)


def first_shard(path: Path) -> Path | None:
    """The first of the files that a name without its number stands for."""
    shards = (path.with_name(path.name + number) for number in ("0", "00", "000"))
    return next((shard for shard in shards if shard.is_file()), None)


def mindrecords_in(folder: Path, names: Sequence[str]) -> list[Path]:
    """Those of the names in a folder that are MindRecord files."""
    there = set(names)
    likely = [folder / name for name in names if ".mindrecord" in name.lower() or f"{name}.db" in there]
    return sorted(path for path in likely if _begins_like_one(path))


def _begins_like_one(path: Path) -> bool:
    try:
        with opened(path) as file:
            return looks_like_mindrecord(file.read(64))
    except (OSError, BadFile):
        return False


def _with_shards(path: Path, skipped: Skipped, *, alone: bool) -> Iterator[MindRecord]:
    try:
        first = MindRecord(path)
    except BadFile as trouble:
        if alone:
            raise
        skipped.add("unreadable_file", f"{path.name}: {trouble.reason}")
        return
    _look_at_index(first, skipped)
    # A name may be a whole path of the machine where it was written.
    names = [Path(shard).name for shard in first.shards] if alone and len(first.shards) > 1 else []
    if path.name not in names:
        yield first
        return
    for name in names:
        if name == path.name:
            yield first
            continue
        if not is_plain_name(name):
            skipped.add("missing_shard", printable(name))
            continue
        try:
            shard = MindRecord(path.with_name(name))
        except BadFile as trouble:
            skipped.add("missing_shard", f"{name}: {trouble.reason}")
            continue
        _look_at_index(shard, skipped)
        yield shard


def _look_at_index(file: MindRecord, skipped: Skipped) -> None:
    """The index is not needed here, but MindSpore reads nothing without it."""
    for cut in file.cut:
        skipped.add("cut_short", f"{file.path.name}: {cut}")
    index = file.path.with_name(file.path.name + ".db")
    if not index.is_file():
        skipped.add("no_index", index.name)
        return
    try:
        connection = sqlite3.connect(f"{index.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            connection.set_progress_handler(lambda: 1, _LEAST_STEPS + index.stat().st_size)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE)
            ((rows,),) = connection.execute("SELECT count(*) FROM INDEXES").fetchall()
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, OverflowError, MemoryError, OSError) as error:
        skipped.add("bad_index", f"{index.name}: {error}")
        return
    if rows != file.length:
        skipped.add("bad_index", f"{index.name}: {rows} / {file.length}")


class MindRecordSource:
    """The Source of such files, one after the other."""

    kind = "mindrecord"

    def __init__(self, name: str, files: Sequence[MindRecord], label: str | None, skipped: Skipped) -> None:
        self.name = name
        self.skipped = skipped
        self._files = files
        self.length = sum(file.length for file in files)
        self.fields = list(dict.fromkeys(field.name for file in files for field in file.fields))
        self.label = choose_label(name, self.fields, label)
        self._pictures = self._fields_of_pictures() if has_pillow() else frozenset()
        self._judged = Judged(skipped)

    def _fields_of_pictures(self) -> frozenset[str]:
        """Fields whose first bytes are those of an image file."""
        first = next((row for file in self._files for row in file.rows(0, min(1, file.length))), {})
        return frozenset(
            name for name, value in first.items() if isinstance(value, bytes) and looks_like_image(value[:12])
        )

    def chunks(self, fields: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Row by row; of one that is damaged the fields that are there."""
        names = list(self.fields if fields is None else fields)
        start, size = 0, 0
        rows: list[Sample] = []
        for row in self._rows(names):
            rows.append(row)
            size += sum(_bytes(value) for value in row.values())
            if len(rows) == _CHUNK_SAMPLES or size >= _CHUNK_BYTES:
                yield self._chunk(start, rows, names)
                start, rows, size = start + len(rows), [], 0
        if rows:
            yield self._chunk(start, rows, names)

    def _chunk(self, start: int, rows: Sequence[Mapping[str, object]], names: Sequence[str]) -> Chunk:
        columns = {name: _column([row[name] for row in rows]) for name in names}
        self._judged.look_at_pictures(start, columns)
        return Chunk(start, len(rows), columns)

    def _rows(self, names: Sequence[str]) -> Iterator[Sample]:
        at, whole = 0, set(self.fields) <= set(names)
        for file in self._files:
            for number, row in enumerate(file.rows(0, file.length, names)):
                place = f"{file.path.name}: {number}"
                if whole:
                    bad = any(value is None for value in row.values())
                    self._judged.look("", at, "bad_row" if bad else None, place)
                at += 1
                yield {name: self._shown(name, row.get(name), place) for name in names}

    def _shown(self, name: str, value: object, place: str) -> object:
        return decode_bytes(value, place) if name in self._pictures and isinstance(value, bytes) else value

    def take(self, indexes: Sequence[int]) -> list[Mapping[str, object]]:
        """Each by its place in its file."""
        found: list[Sample] = []
        for index in indexes:
            at = index
            file = next((record for record in self._files if (at := at - record.length) < 0), None)
            if file is None or index < 0:
                raise IndexError(index)
            number = at + file.length
            (row,) = file.rows(number, number + 1)
            place = f"{file.path.name}: {number}"
            found.append({name: self._shown(name, row.get(name), place) for name in self.fields})
        return found


def _bytes(value: object) -> int:
    pixels = getattr(value, "pixels", value)
    return pixels.nbytes if isinstance(pixels, np.ndarray) else len(value) if isinstance(value, bytes | str) else 8


def _column(values: list[Cell]) -> Column:
    """An array where all values are numbers or arrays of one shape."""
    first = values[0]
    if isinstance(first, np.ndarray | np.generic):
        alike = all(isinstance(value, np.ndarray | np.generic) and value.shape == first.shape for value in values)
        if alike and len({value.dtype for value in values}) == 1:
            stacked: Array = np.stack(values)
            return stacked
    return values
