"""What TrueLine says on stderr, which belongs to the user's script as well."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from trueline.model.descriptor import OwnDescriptor
from trueline.model.visible import on_one_line

_at_the_start: TextIO | None = None
_descriptor: OwnDescriptor | None = None


def script_begins() -> None:
    """What is stderr now stays TrueLine's: the script may put in its place what writes a file of its own."""
    global _at_the_start, _descriptor
    _at_the_start, _descriptor = sys.stderr, None
    try:
        _descriptor = OwnDescriptor(sys.stderr.fileno())
    except (AttributeError, ValueError, OSError):
        return


def write_line(text: str) -> None:
    """One line, whatever is in it."""
    write_beside(on_one_line(text) + "\n")


def write_beside(text: str) -> None:
    """Text beside the script's output, if stderr still is there: the script may have closed it, and ends as by itself.

    Past Python's buffer, in which a line that cannot be written would wait until Python flushes it at its end and then
    changes the exit code. A stream that was closed is written to by its descriptor, as long as that is the same file.
    """
    stream = _stream()
    if stream is None:
        return
    try:
        number = _number(stream)
        if number is None:
            stream.write(text)
            stream.flush()
            return
        if not _is_closed(stream):
            stream.flush()
        rest = memoryview(text.encode(_encoding(stream), "backslashreplace"))
        while rest:
            rest = rest[os.write(number, rest) :]
    except Exception:  # noqa: BLE001 - whatever the script has put there, its end is its own
        return


class BesideTheScript(io.TextIOBase):
    """A stream for whole pages beside the script's output: to write on it never fails."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Stderr's."""
        return _encoding(_stream())

    def write(self, text: str) -> int:
        """As a stream does, where there still is one."""
        write_beside(text)
        return len(text)

    def isatty(self) -> bool:
        """Whether somebody may be looking."""
        try:
            number = _number(_stream())
            return number is not None and os.isatty(number)
        except Exception:  # noqa: BLE001 - nobody is
            return False


def _stream() -> TextIO | None:
    """Where TrueLine speaks."""
    kept = _at_the_start
    if kept is None or (_is_closed(kept) and not _is_closed(sys.stderr)):
        return sys.stderr
    return kept


def _is_closed(stream: TextIO | None) -> bool:
    try:
        return stream is None or bool(getattr(stream, "closed", False))
    except Exception:  # noqa: BLE001 - its buffer was taken from it, for instance
        return True


def _number(stream: TextIO | None) -> int | None:
    """The descriptor behind a stream, also where Python's side of it was closed; None where there is none."""
    if stream is _at_the_start and _is_closed(stream) and _descriptor is not None:
        return _descriptor.proven()
    try:
        return stream.fileno() if stream is not None else None
    except (AttributeError, ValueError, OSError):
        return None


def _encoding(stream: TextIO | None) -> str:
    try:
        found = getattr(stream, "encoding", None)
    except Exception:  # noqa: BLE001 - its buffer was taken from it, for instance
        found = None
    return found if isinstance(found, str) else "utf-8"
