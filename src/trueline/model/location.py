"""A place: in a source, in a network, in the course of a training."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Self

from trueline.model.fields import need


@dataclass(frozen=True, slots=True)
class Location:
    """What is known of a place; an unknown file is empty, an unknown line 0, and everything else None."""

    file: str = ""
    line: int = 0
    # Where it ends. Two places that begin at one line are one place to a reader.
    last: int = field(default=0, compare=False)
    module: str | None = None
    step: int | None = None
    rank: int | None = None
    side: str | None = None
    sample: int | None = None

    @classmethod
    def of(cls, file: str, node: ast.AST) -> Self:
        """Where a node of a source stands."""
        line = getattr(node, "lineno", 0)
        return cls(file, line, getattr(node, "end_lineno", None) or line)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def to_json(self) -> dict[str, object]:
        """The JSON shape of a finding's place: seven fields, always, and null for what is unknown."""
        return {
            "file": self.file or None,
            "line": self.line or None,
            "module": self.module,
            "step": self.step,
            "rank": self.rank,
            "side": self.side,
            "sample": self.sample,
        }

    def line_json(self) -> dict[str, object]:
        """The JSON shape of a line of a source, as run folders hold it."""
        return {"file": self.file, "line": self.line}

    @classmethod
    def from_line_json(cls, found: object) -> Self:
        """Read the shape of a line; a ValueError says what is wrong."""
        return cls(need(found, "file", str), need(found, "line", int))
