"""A few thousand rows of a table, from all over it: what columns are like, and estimates where rows are too many."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.describing import markers
from trueline.data.describing.markers import Spread
from trueline.data.describing.sampling import Numbers, mean_and_spread, quantiles_of
from trueline.data.describing.terms import Terms, kind_of_type
from trueline.data.describing.wanted import Wanted
from trueline.data.source import Cell, Column
from trueline.data.sources.relation import Form, TableColumn
from trueline.data.sources.tables import TableSource, joined

# Up to so many rows every number is exact.
SMALL: Final = 200_000
_STRETCHES, _ROWS = 6, 4096
# So many deviations away from 0, squares lose four of their sixteen digits.
_FAR_FROM_ZERO_STDS: Final = 100.0


class TableSample:
    """Rows of some stretches, one in each part of the table, the same ones every time."""

    def __init__(self, source: TableSource, wanted: Wanted) -> None:
        length = source.relation.length
        self.small = length <= SMALL
        self.exact = wanted.exact or self.small
        self.length = length
        self._wanted = wanted
        self._columns: dict[str, Column] = {}
        self._numbers: dict[str, Numbers] = {}
        self._distinct: dict[str, int] = {}
        columns = [
            column for column in source.relation.columns if kind_of_type(column) not in ("sequence", "bytes", "other")
        ]
        stretches = _stretches(length)
        self.rows = sum(stop - start for start, stop in stretches)
        parts = [source.read(columns, start, stop) for start, stop in stretches] if columns else []
        for column in columns:
            self._columns[column.name] = joined([part[column.name] for part in parts])

    def values(self, name: str) -> Column:
        """A column's values, None where there is nothing."""
        return self._columns.get(name, ())

    def numbers(self, name: str) -> Numbers:
        """A column's finite numbers, without given markers."""
        if name not in self._numbers:
            values = self.values(name)
            if not isinstance(values, np.ndarray):
                values = np.asarray([float(value) for value in values if isinstance(value, int | float)], np.float64)
            found = values.astype(np.float64) if values.dtype.kind in "biuf" else np.empty(0)
            found = found[np.isfinite(found)]
            given = self._wanted.numbers
            self._numbers[name] = found[~np.isin(found, list(given))] if given else found
        return self._numbers[name]

    def pivot(self, name: str) -> float:
        """A number amid the others, so that squares of differences from it lose no digits; 0 where none are lost."""
        found = self.numbers(name)
        if not len(found):
            return 0.0
        middle = 2.0 * float(np.median(found / 2))
        return middle if abs(middle) / _FAR_FROM_ZERO_STDS > mean_and_spread(found)[1] else 0.0

    def quantiles(self, name: str) -> dict[str, float]:
        """Of a column's numbers, estimated."""
        return quantiles_of(self.numbers(name))

    def fractions(self, name: str) -> bool:
        """Whether some of a column's numbers are no integers."""
        found = self.numbers(name)
        return bool((found != np.floor(found)).any())

    def distinct(self, name: str) -> int:
        """How many different values the column has, estimated: those seen once stand for many others."""
        if name not in self._distinct:
            self._distinct[name] = self._estimated(_times(self.values(name)))
        return self._distinct[name]

    def _estimated(self, times: npt.NDArray[np.int64]) -> int:
        if self.rows >= self.length:
            return len(times)
        # Chao's estimate: from how many were seen once and how many twice.
        once, twice = int((times == 1).sum()), int((times == 2).sum())
        return round(min(self.length, len(times) + once * (once - 1) / (2 * (twice + 1))))

    def spread(self, name: str) -> Spread | None:
        """A column's numbers without those that may be markers."""
        found = self.numbers(name)
        found = found[~np.isin(found, markers.NUMBERS)]
        if not len(found):
            return None
        low, high = float(found.min()), float(found.max())
        return Spread(low, high, self.length, self.distinct(name), self.fractions(name))

    def terms(self, column: TableColumn) -> Terms:
        """What the column looks like."""
        kind = kind_of_type(column)
        values: list[Cell] = []
        if column.form is Form.JSON or kind == "text":
            values = [value for value in self.values(column.name) if value is not None]
        if column.form is Form.JSON and sum(isinstance(value, list) for value in values) * 2 > len(values):
            kind = "sequence"
        elif kind == "text" and column.type == "VARCHAR" and _mostly_numbers(values):
            kind = "mixed"
        given = list(self._wanted.missing)
        return Terms(
            column, kind, given, [f"{number!r}::DOUBLE" for number in self._wanted.numbers if math.isfinite(number)]
        )


def _stretches(length: int) -> list[tuple[int, int]]:
    if length <= _STRETCHES * _ROWS:
        return [(0, length)]
    part = length // _STRETCHES
    draw = random.Random(0)
    starts = [part * place + draw.randrange(part - _ROWS + 1) for place in range(_STRETCHES)]
    return [(start, start + _ROWS) for start in starts]


def _times(values: Column) -> npt.NDArray[np.int64]:
    """How often each value is there."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return np.unique(values, return_counts=True)[1].astype(np.int64)
    counts = Counter(repr(value) if isinstance(value, list | dict | np.ndarray) else value for value in values)
    del counts[None]
    return np.fromiter(counts.values(), np.int64, len(counts))


def _mostly_numbers(texts: list[Cell]) -> bool:
    filled = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
    meant = [text for text in filled if text.lower() not in markers.TEXTS]
    numbers = 0
    for one in meant:
        try:
            float(one)
        except ValueError:
            continue
        numbers += 1
    return bool(meant) and numbers * 2 >= len(meant)
