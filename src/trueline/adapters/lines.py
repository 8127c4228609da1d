"""The user's line that led to a call."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from types import FrameType

from trueline.model.location import Location

_OURS = __file__.rpartition("adapters")[0]
_EXAMPLES = _OURS + "examples"
_FROZEN = ("<frozen", "<string>", "<__array_function__")


def user_line(package: str, *, frame: FrameType | None = None) -> Location | None:
    """The innermost frame that is neither in a package's folder (given with its closing slash) nor TrueLine's own."""
    return next(map(_at, user_frames(package, frame=frame if frame is not None else sys._getframe(1))), None)


def user_lines(package: str, *, frame: FrameType) -> list[Location]:
    """All such frames, the innermost first."""
    return list(map(_at, user_frames(package, frame=frame)))


def is_called_by_user(package: str) -> bool:
    """Whether a replaced function of a package is called from outside of it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith(package)


def helper_called_at(package: str, methods: Collection[str], *, frame: FrameType) -> Location | None:
    """Where the innermost user's function was called by another, where it is none of a module's own ``methods``."""
    frames = (found for found in user_frames(package, frame=frame) if not found.f_code.co_name.startswith("<"))
    inner, outer = next(frames, None), next(frames, None)
    return _at(outer) if inner is not None and outer is not None and inner.f_code.co_name not in methods else None


def user_frames(package: str, *, frame: FrameType | None) -> Iterator[FrameType]:
    """All such frames, the innermost first."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_ours(file) and not file.startswith((package, *_FROZEN)):
            yield frame
        frame = frame.f_back


def _is_ours(file: str) -> bool:
    return file.startswith(_OURS) and not file.startswith(_EXAMPLES)


def _at(frame: FrameType) -> Location:
    return Location(frame.f_code.co_filename, frame.f_lineno)
