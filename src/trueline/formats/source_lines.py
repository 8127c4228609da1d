"""Lines of a source file around one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trueline.model.report import Source
from trueline.model.run import Line

_AROUND: Final = 2


def source_around(line: Line, side: str | None = None) -> Iterator[Source]:
    """The line with those around it; nothing where the file is not there, or is another one by now."""
    try:
        lines = Path(line.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    if 0 < line.line <= len(lines):
        begin = max(1, line.line - _AROUND)
        yield Source(line.file, line.line, lines[begin - 1 : line.line + _AROUND], begin, side)
