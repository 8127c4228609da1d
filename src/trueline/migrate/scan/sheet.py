"""A scan, or a comparison of two scripts, as comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from trueline.model.result import Result

_COLUMNS: Final = (
    "file",
    "cell",
    "line",
    "column",
    "scope",
    "name",
    "kind",
    "framework",
    "verdict",
    "counterpart",
    "todo",
)
_SIDES: Final = ("bench", "port")
# A cell that begins with one of these is a formula to a spreadsheet.
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def render_csv(found: Result) -> str:
    """The uses of a scan, or the disagreements of two scripts, a line each."""
    if "uses" in found.fields:
        return _lines(_COLUMNS, found.fields["uses"])
    rows = [
        {
            "argument": one["argument"],
            **{f"{side}_{name}": value for side in _SIDES for name, value in one[side].items()},
        }
        for one in found.fields["disagreements"]
    ]
    names = ("name", "file", "line", "value", "given")
    return _lines(("argument", *(f"{side}_{name}" for side in _SIDES for name in names)), rows)


def _lines(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(column)) for column in columns])
    return file.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
