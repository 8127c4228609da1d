"""A table as SQL sees it: its columns, where its rows come from, and which sample a row is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt


class Form(StrEnum):
    """How a column's values are written down."""

    TYPED = "typed"
    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A field: its name, what SQL calls it, DuckDB's name of its type, and how its values are written down.

    ``types`` are the types that files of one folder give it, where they differ: how many rows, and the first of them.
    """

    name: str
    sql: str
    type: str
    form: Form
    types: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relation:
    """What stands after FROM, the expression of a row's number, and the columns."""

    sql: str
    row: str
    columns: Sequence[TableColumn]
    length: int


class Gaps:
    """Rows that were stepped over keep their numbers: which sample a row is that was read, and the other way round."""

    def __init__(self) -> None:
        self._before: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, read: int, gone: Sequence[int]) -> None:
        """One more file: ``read`` rows are there before it, ``gone`` are the places of its lost rows in it."""
        new = [read + place - lost for lost, place in enumerate(sorted(gone))]
        self._before = np.concatenate([self._before, np.array(new, np.int64)])

    @property
    def count(self) -> int:
        """How many rows are not there."""
        return len(self._before)

    def samples(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The samples that rows are."""
        found = np.asarray(rows, np.int64)
        return found + np.searchsorted(self._before, found, side="right")

    def rows(self, samples: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The rows of samples, -1 for one that could not be read."""
        found = np.asarray(samples, np.int64)
        gone = self._before + np.arange(len(self._before))
        rows = found - np.searchsorted(gone, found, side="left")
        return np.where(np.isin(found, gone), -1, rows)

    def stretches(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Rows from start to stop, cut where a sample is missing between them."""
        inside = self._before[np.searchsorted(self._before, start, "right") : np.searchsorted(self._before, stop)]
        cuts = np.unique(inside).tolist()
        return list(pairwise([start, *cuts, stop]))
