"""Parquet files: their footers, and the table that several of them are together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.data.sources.duck import Duck, name_in_sql, quoted
from trueline.data.sources.relation import Form, Relation, TableColumn

# DuckDB's own names for where a row comes from: a column of this name would hide it.
RESERVED: Final = frozenset({"file_row_number", "file_index"})


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """A file whose footer can be read: how many rows, and the type of each column."""

    path: Path
    length: int
    types: Mapping[str, str]


def read_footer(duck: Duck, path: Path) -> ParquetFile | None:
    """What a file's footer says; None where it cannot be read."""
    try:
        (length,) = duck.row(f"SELECT sum(num_rows) FROM parquet_file_metadata({quoted(str(path))})")
        columns = duck.rows(f"DESCRIBE SELECT * FROM read_parquet({quoted(str(path))})")
    except duck.errors:
        return None
    return ParquetFile(path, int(length), {column[0]: column[1] for column in columns})


def can_be_read(duck: Duck, file: ParquetFile) -> bool:
    """Whether all of its pages can."""
    hashes = ", ".join(f"bit_xor(hash({name_in_sql(name)}))" for name in file.types)
    try:
        duck.rows(f"SELECT {hashes} FROM read_parquet({quoted(str(file.path))})")
    except duck.errors:
        return False
    return True


def nulls_in_footers(duck: Duck, files: Sequence[ParquetFile]) -> dict[str, int]:
    """How many nulls the columns have of which all footers say it."""
    paths = ", ".join(quoted(str(one.path)) for one in files)
    rows = duck.rows(
        f"SELECT path_in_schema, sum(stats_null_count) FROM parquet_metadata([{paths}]) GROUP BY path_in_schema "
        f"HAVING count(*) = count(stats_null_count) AND count(DISTINCT file_name) = {len(files)}"
    )
    return {name: int(nulls) for name, nulls in rows}


def together(files: Sequence[ParquetFile]) -> Relation:
    """All files one after the other; a column that a file lacks is null there."""
    paths = ", ".join(quoted(str(one.path)) for one in files)
    if len(files) == 1:
        sql, row = f"read_parquet({paths})", "file_row_number"
    else:
        starts = ", ".join(map(str, offsets(files)))
        sql, row = (
            f"read_parquet([{paths}], union_by_name=true)",
            f"([{starts}][(file_index + 1)::BIGINT] + file_row_number)",
        )
    names = list(dict.fromkeys(name for one in files for name in one.types))
    columns = [_column(name, files) for name in names]
    return Relation(sql, row, columns, sum(one.length for one in files))


def offsets(files: Sequence[ParquetFile]) -> list[int]:
    """The first row of each file."""
    starts, at = [], 0
    for one in files:
        starts.append(at)
        at += one.length
    return starts


def _column(name: str, files: Sequence[ParquetFile]) -> TableColumn:
    types: dict[str, tuple[int, int]] = {}
    for start, one in zip(offsets(files), files, strict=True):
        kind = one.types.get(name)
        if kind is not None and one.length:
            rows, first = types.get(kind, (0, start))
            types[kind] = (rows + one.length, first)
    usual = max(types, key=lambda kind: types[kind][0]) if types else next(iter(_all(name, files)))
    return TableColumn(name, name_in_sql(name), usual, Form.TYPED, types if len(types) > 1 else {})


def _all(name: str, files: Sequence[ParquetFile]) -> list[str]:
    return [one.types[name] for one in files if name in one.types]


def part_of(file: ParquetFile, columns: Sequence[TableColumn], start: int, stop: int) -> str:
    """The SQL of some rows of one file; only what holds them is read."""
    chosen = ", ".join(one.sql if one.name in file.types else f"NULL AS {one.sql}" for one in columns)
    where = f"file_row_number BETWEEN {start} AND {stop - 1}"
    return f"SELECT {chosen} FROM read_parquet({quoted(str(file.path))}) WHERE {where}"
