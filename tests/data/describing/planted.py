"""A clean table, and faults to be planted in it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from trueline.data.describing import Wanted

Table = dict[str, list[Any]]
ROWS = 120


def clean(rows: int = ROWS) -> Table:
    """Measured quantities, a count, a text and a label of four classes; nothing is wrong with it."""
    draw = random.Random(7)
    return {
        "width": [round(draw.uniform(1, 50), 4) for _ in range(rows)],
        "height": [round(draw.gauss(0, 3), 4) for _ in range(rows)],
        "age": [draw.randrange(18, 90) for _ in range(rows)],
        "text": [f"a sentence about number {row}" for row in range(rows)],
        "label": [row % 4 for row in range(rows)],
    }


def put(field: str, *values: tuple[int, Any]) -> Callable[[Table], Table]:
    """Values at places of a field."""

    def planted(table: Table) -> Table:
        for row, value in values:
            table[field][row] = value
        return table

    return planted


def copied(row: int, of: int, label: Any = None) -> Callable[[Table], Table]:
    """A row that is a copy of another one, with another label where one is given."""

    def planted(table: Table) -> Table:
        for name in table:
            table[name][row] = table[name][of]
        if label is not None:
            table["label"][row] = label
        return table

    return planted


def unbalanced(table: Table) -> Table:
    """Nearly all of one class."""
    table["label"] = [3 if row % 20 == 19 else 0 for row in range(len(table["label"]))]
    return table


NAN, INF = float("nan"), float("inf")
# name: (how it is planted, what is asked for, code, conclusion, field, kind, count, first samples)
Case = tuple[Callable[[Table], Table], Wanted, str, str, str | None, str, int, list[int]]
PLANTED: dict[str, Case] = {
    "nan": (put("width", (4, NAN), (90, NAN)), Wanted(), "ds.01", "found", "width", "nan", 2, [4, 90]),
    "inf": (put("width", (7, INF)), Wanted(), "ds.01", "found", "width", "+inf", 1, [7]),
    "minus inf": (put("height", (9, -INF)), Wanted(), "ds.01", "found", "height", "-inf", 1, [9]),
    "empty": (put("text", (11, ""), (12, "  ")), Wanted(), "ds.01", "found", "text", "empty", 2, [11, 12]),
    "given number": (
        put("height", (3, -1.0), (60, -1.0)),
        Wanted(missing=("-1",)),
        "ds.01",
        "found",
        "height",
        "marker",
        2,
        [3, 60],
    ),
    "given text": (
        put("text", (5, "no answer")),
        Wanted(missing=("no answer",)),
        "ds.01",
        "found",
        "text",
        "marker",
        1,
        [5],
    ),
    "minus one": (put("width", (8, -1), (77, -1)), Wanted(), "ds.01", "suspect", "width", "marker", 2, [8, 77]),
    "minus 999": (put("height", (1, -999), (2, -999)), Wanted(), "ds.01", "suspect", "height", "marker", 2, [1, 2]),
    "999": (put("age", (20, 999)), Wanted(), "ds.01", "suspect", "age", "marker", 1, [20]),
    "question mark": (put("text", (6, "?"), (9, "?")), Wanted(), "ds.01", "suspect", "text", "marker", 2, [6, 9]),
    "out of range": (put("label", (30, 9)), Wanted(classes=4), "ds.02", "found", "label", "label", 1, [30]),
    "negative label": (put("label", (31, -1)), Wanted(classes=4), "ds.02", "found", "label", "label", 1, [31]),
    "odd label": (put("label", (32, 77)), Wanted(), "ds.02", "suspect", "label", "label", 1, [32]),
    "conflict": (copied(50, 10, 3), Wanted(), "ds.02", "found", "label", "conflict", 1, [50]),
    "duplicate": (copied(54, 10), Wanted(), "ds.02", "suspect", None, "duplicate", 1, [54]),
}
