"""Where something stands in the source."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trueline.model.finding import Where


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file; ``line`` is where it begins, ``last`` where it ends."""

    file: str
    line: int
    last: int = 0

    @classmethod
    def of(cls, file: str, node: ast.AST) -> Place:
        """Where a node stands."""
        line = getattr(node, "lineno", 0)
        return cls(file, line, getattr(node, "end_lineno", None) or line)

    def where(self) -> Where:
        """The place as a finding names it."""
        return Where(file=self.file, line=self.line)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"
