"""The user's line that led to a call."""

from __future__ import annotations

import sys
from types import FrameType

from trueline.model.run import Line

_OURS = __file__.rpartition("adapters")[0]
_EXAMPLES = _OURS + "examples"
_FROZEN = ("<frozen", "<string>", "<__array_function__")


def user_line(package: str, *, frame: FrameType | None = None) -> Line | None:
    """The innermost frame that is neither in a package's folder (given with its closing slash) nor TrueLine's own."""
    found = frame if frame is not None else sys._getframe(1)
    while found is not None:
        file = found.f_code.co_filename
        ours = file.startswith(_OURS) and not file.startswith(_EXAMPLES)
        if not ours and not file.startswith((package, *_FROZEN)):
            return Line(file, found.f_lineno)
        found = found.f_back  # type: ignore[assignment]
    return None
