"""What reading foreign bytes may cost: memory and work in proportion to their size, agreed before anything is read."""

from __future__ import annotations

import os
from typing import Final

from trueline.model.message import Message
from trueline.model.trouble import BadFile

MIB: Final = 1 << 20
# A small file may need a table or a code page that is larger than itself.
MEMORY_BASE: Final = 64 * MIB
# Decoded JSON, YAML and pickles take up to about thirty times their text as Python objects.
MEMORY_PER_BYTE: Final = 32
# What DuckDB and its caches take beside that, however small a table is.
TABLE_MEMORY: Final = 128 * MIB
# What the syntax tree of a script takes beside that.
SYNTAX_MEMORY: Final = 128 * MIB
# A unit of work is about a microsecond: one decoded record, opcode, cell or regular-expression try.
WORK_BASE: Final = 2_000_000
WORK_PER_BYTE: Final = 8
# So many bytes of elements are measured in a unit of work.
READ_PER_UNIT: Final = 1024


class OverBudget(BadFile):
    """A file that would take more memory or work than its size is worth."""


class Budget:
    """The memory and the work that one file or folder may still take."""

    def __init__(self, path: str | os.PathLike[str], size: int) -> None:
        self.path = path
        self.size = size
        self.memory = MEMORY_BASE + MEMORY_PER_BYTE * size
        self.work = WORK_BASE + WORK_PER_BYTE * size

    def widen(self, size: int) -> None:
        """There are so many bytes more to be read, as of a file that another one imports or lists."""
        self.size += size
        self.memory += MEMORY_PER_BYTE * size
        self.work += WORK_PER_BYTE * size

    def hold(self, size: int) -> None:
        """Take so many bytes of memory; asked for before they are allocated."""
        if size > self.memory:
            raise self._over("budget.memory", (size + MIB - 1) // MIB)
        self.memory -= size

    def release(self, size: int) -> None:
        """Give memory back that is held no longer."""
        self.memory += size

    def can_hold(self, size: int) -> None:
        """Ask for memory that is given back at once."""
        self.hold(size)
        self.release(size)

    def spend(self, units: int = 1) -> None:
        """Take so many units of work; asked for before they are done."""
        if units > self.work:
            raise self._over("budget.work", units)
        self.work -= units

    def _over(self, reason: str, wanted: int) -> OverBudget:
        return OverBudget(self.path, Message(reason, {"size": self.size, "wanted": wanted}).text())
