"""Tables of separated values: looked at first, then copied row by row as text; rows that do not fit are told."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Final

from trueline.data.source import Skipped
from trueline.data.sources.duck import Duck, quoted
from trueline.data.sources.lines import lines_at
from trueline.model.trouble import BadFile

_HEAD: Final = 1 << 18
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


def look(path: Path) -> Dialect:
    """From the beginning of a file; a BadFile where there is nothing in it."""
    start = read_head(path)
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = start.decode("utf-16" if encoding == "utf-16" else "utf-8-sig", "replace")
    lines = text.splitlines()
    if not text.strip() or not lines:
        raise BadFile(path, "")
    separator = "\t" if ".tsv" in path.name.lower() else max(_SEPARATORS, key=lambda one: _outside(lines[0], one))
    rows = list(islice((row for row in csv.reader(StringIO(text), delimiter=separator) if row), 3))
    header = len(rows) < 2 or not _are_data(rows[0], rows[1])
    names = rows[0] if header else [f"column{place}" for place in range(len(rows[0]))]
    if header and len(rows) > 1 and all(len(row) == len(names) + 1 for row in rows[1:]):
        # Some programs write the number of each row, and no name above.
        names = ["", *names]
    return Dialect(separator, _unique(names), header, encoding)


def read_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is packed."""
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as file:
            found: bytes = file.read(_HEAD)
            return found
    except (OSError, EOFError) as error:
        raise BadFile(path, getattr(error, "strerror", None) or type(error).__name__) from None


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
    for place, name in enumerate(names):
        plain = name.strip() or f"column{place}"
        known, times = plain, 1
        while known in found:
            known = f"{plain}_{times}"
            times += 1
        found[known] = None
    return list(found)


def read_rows(duck: Duck, path: Path, dialect: Dialect, *, into: str, values: str, skipped: Skipped) -> list[int]:
    """Put a file's rows into a table; the places of those that were stepped over are given back."""
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
        at = lines_at(path, [int(byte) for _, byte, _ in rejected])
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
        f"quote={quote}, escape={quote}, "
        # Nothing a file can hold: an empty cell is an empty text, not a null.
        f"nullstr='\x02\x03', encoding='{dialect.encoding}', strict_mode={str(strict).lower()}, "
        "store_rejects=true, rejects_limit=0)"
    )
