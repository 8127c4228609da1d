"""TrueLine's own lines on stderr, which belongs to the user's script as well."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from trueline.model.visible import on_one_line

_at_the_start: TextIO | None = None


def script_begins() -> None:
    """What is stderr now stays TrueLine's: the script may put in its place what writes a file of its own."""
    global _at_the_start
    _at_the_start = sys.stderr


def stderr() -> TextIO | None:
    """Where TrueLine speaks."""
    kept = _at_the_start
    return sys.stderr if kept is None or getattr(kept, "closed", False) else kept


def write_line(text: str) -> None:
    """One line, whatever is in it, if stderr still is there: the script may have closed it, and ends as by itself.

    Past Python's buffer, in which a line that cannot be written would wait until Python flushes it at its end and then
    changes the exit code.
    """
    text = on_one_line(text)
    stream = stderr()
    if stream is None:
        return
    try:
        try:
            number = stream.fileno()
        except (AttributeError, ValueError, OSError):
            stream.write(text + "\n")
            stream.flush()
            return
        stream.flush()
        rest = memoryview((text + "\n").encode(stream.encoding or "utf-8", "backslashreplace"))
        while rest:
            rest = rest[os.write(number, rest) :]
    except Exception:  # noqa: BLE001 - whatever the script has put there, its end is its own
        return
