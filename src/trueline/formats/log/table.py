"""Curves out of tables: CSV, TSV, or columns of words and numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from trueline.formats.log.names import Role, meaning, words
from trueline.formats.log.rows import LARGEST, Rows, counter
from trueline.formats.log.running import NONE
from trueline.formats.log.stream import decoded, lines_of

_DELIMITERS: Final = ("\t", ",", ";", "|")
_MAX_LINE: Final = 1 << 18
_SAMPLE: Final = 20
_BATCH: Final = 4096
_MOST_COLUMNS: Final = 2000


class Columns(NamedTuple):
    """Which column is what: a curve's name for each scalar's, None where there is no such counter."""

    scalars: dict[int, str]
    step: int | None
    epoch: int | None


def table_rows(path: Path) -> Rows | None:
    """What a table says; None for what is no table with a loss."""
    sample = list(islice(_lines(path), _SAMPLE))
    found = _recognised(sample)
    if found is None:
        return None
    delimiter, columns, header = found
    rows = Rows()
    table = _split(_lines(path), delimiter, header)
    while batch := list(islice(table, _BATCH)):
        if not _add_columns(rows, columns, batch):
            _add_rows(rows, columns, batch)
    return rows


def _add_columns(rows: Rows, columns: Columns, batch: list[Sequence[str]]) -> bool:
    """Keep rows that have a number wherever one is looked for; False where some have none."""
    none = [NONE] * len(batch)
    try:
        cells = list(zip(*batch, strict=True))
        scalars = [(name, list(map(float, cells[place]))) for place, name in columns.scalars.items()]
        steps = list(map(int, cells[columns.step])) if columns.step is not None else none
        epochs = list(map(int, cells[columns.epoch])) if columns.epoch is not None else none
    except (ValueError, IndexError):
        return False
    if min(*steps, *epochs) < NONE or max(*steps, *epochs) >= LARGEST:
        return False
    rows.extend(len(batch), scalars, epochs=epochs, steps=steps, totals=none, ranks=none)
    return True


def _add_rows(rows: Rows, columns: Columns, batch: list[Sequence[str]]) -> None:
    for cells in batch:
        scalars = [
            (name, value) for place, name in columns.scalars.items() if (value := _cell(cells, place)) is not None
        ]
        if scalars:
            rows.add(scalars, step=_counted(cells, columns.step), epoch=_counted(cells, columns.epoch))


def _lines(path: Path) -> Iterator[str]:
    for lines in lines_of(path, _MAX_LINE):
        for line in lines:
            text = decoded(line)[0]
            if text.strip() and not text.startswith("#"):
                yield text


def _split(lines: Iterator[str], delimiter: str, skipped: int = 0) -> Iterator[Sequence[str]]:
    lines = islice(lines, skipped, None)
    if delimiter == " ":
        yield from (line.split() for line in lines)
        return
    while True:
        try:
            # A cell without an end is as long as the rest of the file, which csv refuses.
            yield from csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
            return
        except csv.Error:
            continue


def _recognised(sample: list[str]) -> tuple[str, Columns, int] | None:
    """The delimiter, the columns and how many lines are headings."""
    if not sample:
        return None
    for delimiter in (*(one for one in _DELIMITERS if one in sample[0]), " "):
        rows = list(_split(iter(sample), delimiter))
        width = len(rows[0]) if rows else 0
        if not 0 < width <= _MOST_COLUMNS or any(len(row) != width for row in rows[1:]):
            continue
        if all(_number(cell) is not None for row in rows for cell in row):
            if width > 2:
                continue
            return delimiter, Columns({width - 1: "loss"}, 0 if width == 2 else None, None), 0
        columns = _columns(rows[0])
        # A heading is words, and numbers stand below it.
        if columns is None or len(rows) < 2 or any(_number(cell) is not None for cell in rows[0] if cell.strip()):
            continue
        if any(_number(row[place]) is not None for row in rows[1:] for place in columns.scalars):
            return delimiter, columns, 1
    return None


def _columns(heading: Sequence[str]) -> Columns | None:
    scalars: dict[int, str] = {}
    steps: list[tuple[int, int]] = []
    epoch = None
    for place, cell in enumerate(heading):
        # Exports put the run's name before: "my-run - train/loss".
        one = meaning(cell.rpartition(" - ")[2].strip())
        if one.role is Role.STEP:
            steps.append((one.doubt, place))
        elif one.role is Role.EPOCH and epoch is None:
            epoch = place
        elif one.role is Role.SCALAR and one.curve not in scalars.values():
            scalars[place] = one.curve
    step = min(steps)[1] if steps else None
    if not scalars and step is not None:
        # TensorBoard's own export has the columns "Wall time, Step, Value".
        values = [place for place, cell in enumerate(heading) if words(cell) == ["value"]]
        scalars = dict.fromkeys(values[:1], "loss")
    return Columns(scalars, step, epoch) if scalars else None


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _cell(cells: Sequence[str], place: int) -> float | None:
    return _number(cells[place]) if place < len(cells) else None


def _counted(cells: Sequence[str], place: int | None) -> int:
    return counter(cells[place] if place is not None and place < len(cells) else None)
