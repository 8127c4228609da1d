"""A file that is the worst of its format that could be thought of, and the verb that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trueline.model.budget import MEMORY_BASE, MEMORY_PER_BYTE, SYNTAX_MEMORY, TABLE_MEMORY, WORK_BASE, WORK_PER_BYTE

# Formats that DuckDB reads.
_TABLES = ("csv", "csv.gz", "tsv", "json lines", "parquet")

# What the table is about: files of about this size.
SIZE = 1 << 20

# Writes a file of about so many bytes into an empty folder, and gives the arguments of the verb that reads it.
Make = Callable[[Path, int], list[str | Path]]


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile file; ``good`` says that it is one which has to be read."""

    format: str
    name: str
    make: Make
    good: bool = False

    @property
    def id(self) -> str:
        """Its name in a list of tests."""
        return f"{self.format}: {self.name}"

    def budget(self, size: int) -> tuple[int, float]:
        """The bytes of memory and the seconds that files of this size may take."""
        base = MEMORY_BASE + (TABLE_MEMORY if self.format in _TABLES else 0)
        base += SYNTAX_MEMORY if self.format == "script" else 0
        return base + MEMORY_PER_BYTE * size, (WORK_BASE + WORK_PER_BYTE * size) / 1e6
