"""The user's line that led to a call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType

from trueline.model.location import Location

_OURS = __file__.rpartition("adapters")[0]
_EXAMPLES = _OURS + "examples"
_FROZEN = ("<frozen", "<string>", "<__array_function__")


def user_line(package: str, *, frame: FrameType | None = None) -> Location | None:
    """The innermost frame that is neither in a package's folder (given with its closing slash) nor TrueLine's own."""
    return next(_users(package, frame if frame is not None else sys._getframe(1)), None)


def user_lines(package: str, *, frame: FrameType) -> list[Location]:
    """All such frames, the innermost first."""
    return list(_users(package, frame))


def _users(package: str, frame: FrameType | None) -> Iterator[Location]:
    while frame is not None:
        file = frame.f_code.co_filename
        ours = file.startswith(_OURS) and not file.startswith(_EXAMPLES)
        if not ours and not file.startswith((package, *_FROZEN)):
            yield Location(file, frame.f_lineno)
        frame = frame.f_back
