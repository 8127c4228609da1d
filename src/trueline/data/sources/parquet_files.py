"""Parquet files: their footers, and the table that several of them are together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.data.sources.duck import Duck, Fetched, name_in_sql, quoted
from trueline.data.sources.relation import Form, Relation, TableColumn
from trueline.formats.printable import printable
from trueline.model.message import message
from trueline.model.trouble import BadFile

# DuckDB's own names for where a row comes from: a column of this name would hide it.
RESERVED: Final = frozenset({"file_row_number", "file_index"})
# A value that a dictionary repeats takes no room in the file: so many of them are a unit of work.
_VALUES_PER_UNIT: Final = 8
# An element of a list, while the rows of a group are read.
_ELEMENT: Final = 8
# The texts of a part are there twice while they become Python's.
_TEXT: Final = 2
# DuckDB looks at so many rows at once, and may write them out in full.
_VECTOR: Final = 2048
_LENGTHS: Final = {
    "VARCHAR": "strlen({0})",
    "BLOB": "octet_length({0})",
    "VARCHAR[]": "list_sum(list_transform({0}, x -> strlen(x)))",
    "BLOB[]": "list_sum(list_transform({0}, x -> octet_length(x)))",
}


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
    if length is None or length < 0:
        return None
    found = ParquetFile(path, int(length), {column[0]: column[1] for column in columns})
    with suppress(*duck.errors):
        # Pages that cannot be read are told later.
        _check(duck, found)
    return found


def _check(duck: Duck, file: ParquetFile) -> None:
    """An OverBudget for a file with more values than its size is worth: what is repeated takes no room in it."""
    values, listed, words = file.length * len(file.types), 0, duck.budget.memory
    # A footer may hold what is no text.
    with suppress(*duck.errors):
        values, listed, words = duck.row(
            "SELECT coalesce(sum(num_values), 0)::BIGINT, "
            "coalesce(max(num_values) FILTER (num_values > row_group_num_rows), 0)::BIGINT, "
            "coalesce(max(total_uncompressed_size) FILTER (encodings LIKE '%DICT%'), 0)::BIGINT "
            f"FROM parquet_metadata({quoted(str(file.path))})"
        )
    duck.budget.spend(max(0, values) // _VALUES_PER_UNIT)
    duck.budget.can_hold(max(0, listed) * _ELEMENT)
    if words * _VECTOR > duck.budget.memory:
        _check_texts(duck, file, list(file.types), f"GROUP BY file_row_number // {_VECTOR}")


def _check_texts(duck: Duck, file: ParquetFile, names: Sequence[str], which: str) -> None:
    """An OverBudget where the texts of some rows come to more than the file is worth: all may be one long one."""
    lengths = [
        f"coalesce(sum({_LENGTHS[kind].format(name_in_sql(name))}), 0)"
        for name in names
        if (kind := file.types.get(name)) in _LENGTHS
    ]
    if lengths:
        rows = f"SELECT {' + '.join(lengths)} AS size FROM read_parquet({quoted(str(file.path))}) {which}"
        (size,) = duck.row(f"SELECT coalesce(max(size), 0)::BIGINT FROM ({rows})")
        duck.budget.can_hold(_TEXT * size)


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
    paths = ", ".join(quoted(str(file.path)) for file in files)
    try:
        rows = duck.rows(
            f"SELECT path_in_schema, sum(stats_null_count) FROM parquet_metadata([{paths}]) GROUP BY path_in_schema "
            f"HAVING count(*) = count(stats_null_count) AND count(DISTINCT file_name) = {len(files)}"
        )
    except duck.errors:
        # A footer may hold what is no text; its columns are asked one by one.
        return {}
    return {name: int(nulls) for name, nulls in rows}


def together(files: Sequence[ParquetFile]) -> Relation:
    """All files one after the other; a column that a file lacks is null there."""
    paths = ", ".join(quoted(str(file.path)) for file in files)
    if len(files) == 1:
        sql, row = f"read_parquet({paths})", "file_row_number"
    else:
        starts = ", ".join(map(str, offsets(files)))
        sql, row = (
            f"read_parquet([{paths}], union_by_name=true)",
            f"([{starts}][(file_index + 1)::BIGINT] + file_row_number)",
        )
    names = list(dict.fromkeys(name for file in files for name in file.types))
    columns = [_column(name, files) for name in names]
    return Relation(sql, row, columns, sum(file.length for file in files))


def offsets(files: Sequence[ParquetFile]) -> list[int]:
    """The first row of each file."""
    starts, at = [], 0
    for file in files:
        starts.append(at)
        at += file.length
    return starts


def _column(name: str, files: Sequence[ParquetFile]) -> TableColumn:
    types: dict[str, tuple[int, int]] = {}
    for start, file in zip(offsets(files), files, strict=True):
        kind = file.types.get(name)
        if kind is not None and file.length:
            rows, first = types.get(kind, (0, start))
            types[kind] = (rows + file.length, first)
    usual = max(types, key=lambda kind: types[kind][0]) if types else next(iter(_all(name, files)))
    return TableColumn(name, name_in_sql(name), usual, Form.TYPED, types if len(types) > 1 else {})


def _all(name: str, files: Sequence[ParquetFile]) -> list[str]:
    return [file.types[name] for file in files if name in file.types]


def part_of(file: ParquetFile, columns: Sequence[TableColumn], start: int, stop: int) -> str:
    """The SQL of some rows of one file; only what holds them is read."""
    chosen = ", ".join(column.sql if column.name in file.types else f"NULL AS {column.sql}" for column in columns)
    return f"SELECT {chosen} FROM read_parquet({quoted(str(file.path))}) WHERE {_between(start, stop)}"


def _between(start: int, stop: int) -> str:
    return f"file_row_number BETWEEN {start} AND {stop - 1}"


def read_part(
    duck: Duck, file: ParquetFile, columns: Sequence[TableColumn], start: int, stop: int
) -> dict[str, Fetched]:
    """Some rows of one file; a BadFile where they cannot be read, or are not there in spite of the footer."""
    try:
        _check_texts(duck, file, [column.name for column in columns], f"WHERE {_between(start, stop)}")
        found = duck.arrays(part_of(file, columns, start, stop))
    except duck.errors as error:
        raise BadFile(file.path, printable(str(error))) from None
    if any(len(fetched.values) != stop - start for fetched in found.values()):
        raise BadFile(file.path, message("formats.cut_short").text())
    return found
