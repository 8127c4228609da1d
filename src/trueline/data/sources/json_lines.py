"""Tables of one JSON object a line: lines that are none are told, fields are copied as the JSON they are written in."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from trueline.data.source import Skipped
from trueline.data.sources.delimited import Dialect, is_packed, line_end_of, read_head, read_rows
from trueline.data.sources.duck import Duck, quoted
from trueline.data.sources.lines import lines_of_rows

# No line of JSON can hold it: a line is one cell.
_NONE: Final = "\x01"
_MOST_KEYS: Final = 5000
_OBJECT: Final = "CASE WHEN json_valid(line) THEN json_type(line) = 'OBJECT' ELSE false END"


def read_lines(duck: Duck, path: Path, skipped: Skipped) -> list[int]:
    """Put the lines that hold objects into the table ``lines``; the places of others are given back."""
    duck.run("CREATE OR REPLACE TABLE lines (n BIGINT, line VARCHAR)")
    duck.run("CREATE OR REPLACE TABLE raw_lines (n BIGINT, line VARCHAR)")
    dialect = Dialect(_NONE, ["line"], header=False, line_end=line_end_of(read_head(path)))
    values = "row_number() OVER () - 1, c0"
    lost = read_rows(duck, path, dialect, into="raw_lines", values=values, skipped=skipped)
    duck.run(f"INSERT INTO lines SELECT n, line FROM raw_lines WHERE {_OBJECT} ORDER BY n")
    bad = duck.rows(f"SELECT n, json_valid(line) FROM raw_lines WHERE NOT {_OBJECT} AND trim(line) <> '' ORDER BY n")
    duck.run("DROP TABLE raw_lines")
    # Rows that the reader refused are not among those it numbered.
    places = _shifted([n for n, _ in bad], lost)
    numbers = (
        [place + 1 for place in places]
        if is_packed(path) or not bad
        else lines_of_rows(path, places, dialect.line_end or "\n")
    )
    for at, (_, valid) in zip(numbers, bad, strict=True):
        skipped.add("describe.no_object" if valid else "describe.bad_json", f"{path.name}:{at}")
    return sorted([*lost, *places])


def _shifted(rows: list[int], lost: list[int]) -> list[int]:
    """Rows in order, as they are numbered where the lost ones have their numbers too."""
    found: list[int] = []
    before = 0
    for row in rows:
        while before < len(lost) and lost[before] <= row + before:
            before += 1
        found.append(row + before)
    return found


def keys(duck: Duck) -> list[str]:
    """The fields of the objects in ``lines``, in the order in which they first come."""
    found = duck.rows(
        "SELECT key, min(n) AS first, min(place) AS place FROM (SELECT n, unnest(json_keys(line)) AS key, "
        "unnest(range(len(json_keys(line)))) AS place FROM lines) GROUP BY key ORDER BY first, place "
        f"LIMIT {_MOST_KEYS}"
    )
    return [key for key, _, _ in found]


def values_of(names: list[str]) -> str:
    """The SQL of all fields of a line, each once, in order: as JSON, null where it is not there or null itself."""
    pointers = ", ".join(quoted("/" + name.replace("~", "~0").replace("/", "~1")) for name in names)
    return f"json_extract(line, [{pointers}])"
