"""Tables of separated values: looked at first, then copied row by row as text; rows that do not fit are told."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import BinaryIO, Final

from trueline.data.source import Skipped
from trueline.data.sources.duck import Duck, quoted
from trueline.data.sources.lines import lines_at
from trueline.formats.files import open_file
from trueline.model.budget import Budget
from trueline.model.trouble import BadFile

_HEAD: Final = 1 << 18
# DuckDB takes no longer lines.
_LONGEST_HEAD: Final = 3 << 21
_HEAD_ROWS: Final = 3
# What describing a column takes at least, however short it is.
_COLUMN_MEMORY: Final = 16 << 10
# So much unpacked text is a unit of work.
_TEXT_PER_UNIT: Final = 32
# And so many lines of it, which may be of no length.
_LINES_PER_UNIT: Final = 16
_PIECE: Final = 1 << 20
_SEPARATORS: Final = ",;\t|"
_REASONS: Final = {
    "MISSING COLUMNS": "describe.short_row",
    "TOO MANY COLUMNS": "describe.long_row",
    "UNQUOTED VALUE": "describe.open_quote",
    "INVALID ENCODING": "describe.bad_encoding",
    "LINE SIZE OVER MAXIMUM": "describe.long_line",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file of separated values is written."""

    separator: str
    names: Sequence[str]
    header: bool
    encoding: str = "utf-8"
    # Lines end so; empty where DuckDB is to see for itself.
    line_end: str = ""


def look(path: Path) -> Dialect:
    """From the beginning of a file; a BadFile where there is nothing in it."""
    start = read_head(path)
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = start.decode("utf-16" if encoding == "utf-16" else "utf-8-sig", "replace")
    lines = text.splitlines()
    if not text.strip() or not lines:
        raise BadFile(path, "")
    separator = (
        "\t" if ".tsv" in path.name.lower() else max(_SEPARATORS, key=lambda candidate: _outside(lines[0], candidate))
    )
    rows = _first_rows(path, text, separator)
    header = len(rows) < 2 or not _are_data(rows[0], rows[1])
    names = rows[0] if header else [f"column{place}" for place in range(len(rows[0]))]
    if header and len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows[1:]):
        # Some programs write the number of each row, and no name above.
        names = ["", *names]
    Budget(path, path.stat().st_size).hold(len(names) * _COLUMN_MEMORY)
    return Dialect(separator, _unique(names), header, encoding, line_end_of(start))


def line_end_of(start: bytes) -> str:
    """How lines end where that must be said: as Macs wrote them long ago, and some programs still do."""
    return "\r" if b"\r" in start and b"\n" not in start else ""


def _first_rows(path: Path, text: str, separator: str) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=separator):
            found += [row] if row else []
            if len(found) == _HEAD_ROWS:
                break
    except csv.Error as error:
        # A cell may be longer than this reader takes, or its quote without an end: DuckDB says which rows those are.
        if not found:
            raise BadFile(path, str(error)) from None
    return found


def read_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is packed: its first lines, where these are not too long."""
    with _unpacked(path) as file:
        found = file.read(_HEAD)
        while len(found) < _LONGEST_HEAD and max(found.count(b"\n"), found.count(b"\r")) < _HEAD_ROWS:
            more = file.read(_HEAD)
            if not more:
                break
            found += more
        return found


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    try:
        with open_file(path) as packed:
            if not is_packed(path):
                yield packed
                return
            with gzip.GzipFile(fileobj=packed) as file:
                yield file  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(path, getattr(error, "strerror", None) or type(error).__name__) from None


def _check_packed(path: Path) -> None:
    """A BadFile for one that is damaged, or of which there would be more than its size is worth."""
    budget = Budget(path, path.stat().st_size)
    with _unpacked(path) as file:
        while piece := file.read(_PIECE):
            budget.spend(len(piece) // _TEXT_PER_UNIT + piece.count(b"\n") // _LINES_PER_UNIT)


def is_packed(path: Path) -> bool:
    """Whether a file is compressed."""
    return path.suffix.lower() == ".gz"


def _outside(line: str, separator: str) -> int:
    """How often a separator stands outside of quotes."""
    return sum(part.count(separator) for part in line.split('"')[::2])


def _are_data(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the first row is no header: numbers stand over numbers."""
    places = [place for place, cell in enumerate(second) if is_number(cell)]
    numbers = sum(place < len(first) and is_number(first[place]) for place in places)
    return numbers > len(places) / 2


def is_number(text: str) -> bool:
    """Whether a text is a number, not a finite one perhaps."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unique(names: Sequence[str]) -> list[str]:
    """Each once, and none empty."""
    found: dict[str, None] = {}
    times: Counter[str] = Counter()
    for place, name in enumerate(names):
        known = plain = name.strip() or f"column{place}"
        while known in found:
            times[plain] += 1
            known = f"{plain}_{times[plain]}"
        found[known] = None
    return list(found)


def read_rows(duck: Duck, path: Path, dialect: Dialect, *, into: str, values: str, skipped: Skipped) -> list[int]:
    """Put a file's rows into a table; the places of those that were stepped over are given back."""
    if is_packed(path):
        _check_packed(path)
    try:
        _read(duck, path, dialect, into, values, strict=True)
    except duck.errors:
        # Line ends of two kinds in one file are refused unless one is not strict.
        _read(duck, path, dialect, into, values, strict=False)
    rejected = duck.rows(
        "SELECT line, min(line_byte_position), min(error_type::VARCHAR) FROM reject_errors GROUP BY line ORDER BY line"
    )
    if not rejected:
        return []
    at = [(int(line), 0) for line, _, _ in rejected]
    if dialect.encoding == "utf-8" and not is_packed(path):
        at = lines_at(path, [int(byte) for _, byte, _ in rejected], dialect.line_end or "\n")
    for (_, _, kind), (number, _) in zip(rejected, at, strict=True):
        skipped.add(_REASONS.get(kind, "describe.bad_row"), f"{path.name}:{number}")
    # DuckDB counts empty lines, which are no rows.
    return [int(line) - 1 - dialect.header - empty for (line, _, _), (_, empty) in zip(rejected, at, strict=True)]


def _read(duck: Duck, path: Path, dialect: Dialect, into: str, values: str, *, strict: bool) -> None:
    for table in ("reject_errors", "reject_scans"):
        duck.run(f"DROP TABLE IF EXISTS {table}")
    quote = "'\"'" if dialect.separator != "\x01" else "''"
    types = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(dialect.names)))
    duck.run(
        f"INSERT INTO {into} SELECT {values} FROM read_csv({quoted(str(path))}, auto_detect=false, "
        f"columns={{{types}}}, header={str(dialect.header).lower()}, delim={quoted(dialect.separator)}, "
        f"quote={quote}, escape={quote}, {_new_line(dialect)}"
        # Nothing a file can hold: an empty cell is an empty text, not a null.
        f"nullstr='\x02\x03', encoding='{dialect.encoding}', strict_mode={str(strict).lower()}, "
        "store_rejects=true, rejects_limit=0)"
    )


def _new_line(dialect: Dialect) -> str:
    return f"new_line={quoted(repr(dialect.line_end)[1:-1])}, " if dialect.line_end else ""
