"""Lines of a source file around one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trueline.formats.files import opened
from trueline.model.location import Location
from trueline.model.report import Source
from trueline.model.trouble import BadFile

_AROUND: Final = 2
# A run folder may name any file as a source.
_LARGEST: Final = 4 << 20


def source_around(line: Location, side: str | None = None) -> Iterator[Source]:
    """The line with those around it; nothing where the file is not there, or is another one by now."""
    try:
        with opened(Path(line.file)) as file:
            lines = file.read(_LARGEST).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError, BadFile):
        return
    if 0 < line.line <= len(lines):
        begin = max(1, line.line - _AROUND)
        yield Source(line.file, line.line, lines[begin - 1 : line.line + _AROUND], begin, side)
