"""DuckDB, as tables are read with it: a connection that keeps to little memory, and names and texts put into SQL."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from trueline.data.source import Cell
from trueline.kernel.array import Array
from trueline.model.budget import MIB, TABLE_MEMORY, Budget
from trueline.model.trouble import Missing

if TYPE_CHECKING:
    import duckdb

# What DuckDB may hold at once, and more for each thread; what does not fit goes through a temporary folder.
_MEMORY, _MEMORY_OF_THREAD = 256 * MIB, 128 * MIB
# A table of fewer bytes for each thread is not worth it.
_BYTES_OF_THREAD = 4 * MIB


_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A column of an answer; ``null`` says where there is nothing, None where there is no such place."""

    values: Array
    null: Array | None


def _fetched(column: Array) -> Fetched:
    if not isinstance(column, np.ma.MaskedArray):
        return Fetched(column, None)
    mask = np.broadcast_to(column.mask, column.shape)
    return Fetched(column.data, mask if mask.any() else None)


class Duck:
    """A connection with a temporary folder of its own, which ends with it."""

    def __init__(self, budget: Budget, *, stores: bool = True) -> None:
        """With ``stores`` tables can be made, in a file: they need not fit into memory."""
        self.budget = budget
        duckdb = _duckdb()
        self.errors: tuple[type[Exception], ...] = (duckdb.Error,)
        self._too_little: tuple[type[Exception], ...] = (duckdb.OutOfMemoryException,)
        self._has_all = False
        self._folder = tempfile.TemporaryDirectory(prefix="trueline-tables-")
        self._connection = duckdb.connect(str(Path(self._folder.name) / "staged.duckdb") if stores else ":memory:")
        (most,) = self.row("SELECT current_setting('threads')")
        threads = min(int(most), 1 + budget.size // _BYTES_OF_THREAD)
        self.run(f"SET threads = {threads}")
        self._limit(min(_MEMORY + _MEMORY_OF_THREAD * threads, self._worth))
        self.run(f"SET temp_directory = {quoted(str(Path(self._folder.name) / 'spilled'))}")
        self.run("SET enable_progress_bar = false")

    def run(self, sql: str) -> None:
        """A statement without an answer."""
        self._answer(sql, (), lambda _: None)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Cell, ...]]:
        """All rows of an answer that is known to be short."""
        found: list[tuple[Cell, ...]] = self._answer(sql, values, lambda answer: answer.fetchall())
        return found

    def row(self, sql: str, values: Sequence[object] = ()) -> tuple[Cell, ...]:
        """The only row of an answer."""
        return self.rows(sql, values)[0]

    def arrays(self, sql: str) -> dict[str, Fetched]:
        """An answer column by column."""
        found = self._answer(sql, (), lambda answer: answer.fetchnumpy())
        return {name: _fetched(column) for name, column in found.items()}

    def unordered(self, sql: str) -> list[tuple[Cell, ...]]:
        """The same as rows, for questions to which the order of the table does not matter, which is quicker."""
        self.run("SET preserve_insertion_order = false")
        try:
            return self.rows(sql)
        finally:
            self.run("SET preserve_insertion_order = true")

    def scans(self, sql: str) -> bool:
        """Whether a question about Parquet files needs more of them than their footers."""
        return "PARQUET" in str(self.rows(f"EXPLAIN {sql}")).upper()

    @property
    def _worth(self) -> int:
        """The memory that the files may take, DuckDB's own part included."""
        return TABLE_MEMORY + self.budget.memory

    def _limit(self, size: int) -> None:
        self.run(f"SET memory_limit = '{size // MIB}MiB'")

    def use_all_memory(self) -> None:
        """No longer keep to little memory, only to what the files are worth and most of what the machine has."""
        self._has_all = True
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self._limit(min(self._worth, machine * 4 // 5))

    def _answer(
        self, sql: str, values: Sequence[object], fetched: Callable[[duckdb.DuckDBPyConnection], _Answer]
    ) -> _Answer:
        """What is fetched of an answer; where little memory does not do, as with a large row group, with all of it."""
        try:
            return fetched(self._connection.execute(sql, list(values)))
        except self._too_little:
            if self._has_all:
                self.budget.hold(self._worth)
        self.use_all_memory()
        return self._answer(sql, values, fetched)

    def close(self) -> None:
        """Forget all of it."""
        self._connection.close()
        self._folder.cleanup()


def _duckdb() -> ModuleType:
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise Missing("describe.no_duckdb") from None


def name_in_sql(name: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
