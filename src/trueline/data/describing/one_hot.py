"""Labels gathered chunk by chunk: one for each sample, or a row of numbers of which one is 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from trueline.data.described import Classes
from trueline.data.describing import labels
from trueline.data.describing.numbers import Places
from trueline.data.describing.wanted import NAMED_SAMPLES, Wanted
from trueline.data.source import Cell, Column
from trueline.kernel.array import Array

# So many rows of which the sum is 1 make the others wrong; fewer, and rows may well have several labels.
_MOST_ONE_HOT: Final = 0.8
_NEAR_ONE: Final = 1e-3


class LabelGatherer:
    """All labels, each with how often and where it is first."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._markers = {*wanted.missing}
        self._labels: dict[Cell, tuple[int, int]] = {}
        self._rows = 0
        self._other_rows = Places()
        self._in_range = True

    def add(self, start: int, column: Column) -> None:
        """The labels of one chunk."""
        rows = _rows(column)
        if rows is not None:
            self._add_rows(start, rows)
            return
        values = column.tolist() if isinstance(column, np.ndarray) else column
        for place, value in enumerate(values):
            self.add_many(value, 1, start + place)

    def add_many(self, value: object, times: int, first: int) -> None:
        """One label that so many samples have; what stands for nothing is none."""
        plain = _plain(value)
        if plain is None or plain != plain or str(plain).strip() in ("", *self._markers):
            return
        before, known = self._labels.get(plain, (0, first))
        if before or len(self._labels) <= labels.MOST_CLASSES:
            self._labels[plain] = (before + times, min(first, known))

    def _add_rows(self, start: int, rows: Array) -> None:
        self._rows += len(rows)
        self._in_range = self._in_range and bool((rows >= 0).all() and (rows <= 1).all())
        wrong = np.abs(rows.sum(1, dtype=np.float64) - 1) > _NEAR_ONE
        self._other_rows.add(int(wrong.sum()), np.flatnonzero(wrong) + start)
        for place in np.flatnonzero(~wrong):
            label = int(np.argmax(rows[place]))
            times, first = self._labels.get(label, (0, start + int(place)))
            self._labels[label] = (times + 1, first)

    def classes(self, field: str, *, guessed: bool) -> tuple[Classes | None, str | None]:
        """The classes, or the id of why there are none."""
        given = self._wanted.classes
        if self._rows:
            if self._other_rows.count > (1 - _MOST_ONE_HOT) * self._rows:
                return None, "describe.label_not_one"
            found = labels.classes_of(field, self._labels, guessed=guessed, given=given)
            others = self._other_rows
            found = replace(
                found, one_hot=True, not_one_hot=others.count, not_one_hot_first=others.first[:NAMED_SAMPLES]
            )
            return found, None
        if not self._labels:
            return None, "describe.label_empty"
        if given is None and not labels.names_classes(self._labels, given=not guessed):
            names = sum(isinstance(label, str) for label in self._labels)
            return None, "describe.label_unique" if names * 2 > len(self._labels) else "describe.label_quantity"
        return labels.classes_of(field, self._labels, guessed=guessed, given=given), None


def _rows(column: Column) -> Array | None:
    """Labels that are rows of several numbers."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        flat = column.reshape(len(column), -1) if column.ndim > 1 else column
        return flat if flat.ndim == 2 and flat.shape[1] > 1 and flat.dtype.kind in "biuf" else None
    if not len(column) or not all(isinstance(row, list | tuple | np.ndarray) for row in column):
        return None
    try:
        found = np.asarray([np.asarray(row) for row in column])
    except ValueError:
        return None
    return found if found.ndim == 2 and found.shape[1] > 1 and found.dtype.kind in "biuf" else None


def _plain(value: object) -> Cell:
    while isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size == 1 else str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
