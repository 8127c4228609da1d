"""The user's own code: frames and functions."""

from __future__ import annotations

import linecache
from types import FrameType

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Foreign
from trueline.model.location import Location

# The lines above a ``def`` that its decorators may take.
_MAX_DECORATOR_LINES = 8


def line_of_users_frame(frame: FrameType, package: str) -> Location | None:
    """The line of a user's frame; None for frames of a framework or of TrueLine."""
    line = user_line(package, frame=frame)
    return line if line == Location(frame.f_code.co_filename, frame.f_lineno) else None


def line_of_users_function(function: Foreign, package: str) -> Location | None:
    """The line of a function's ``def``, below its decorators; None where it is not the user's."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or code.co_filename.startswith(package):
        return None
    first = int(code.co_firstlineno)
    below = (line for line in range(first, first + _MAX_DECORATOR_LINES) if _defines(code.co_filename, line))
    return Location(code.co_filename, next(below, first))


def any_of_users(base: type[object], package: str) -> bool:
    """Whether a subclass of ``base`` has a ``backward`` written by the user."""
    return any(
        line_of_users_function(vars(subclass).get("backward"), package) is not None or any_of_users(subclass, package)
        for subclass in base.__subclasses__()
    )


def _defines(file: str, line: int) -> bool:
    return linecache.getline(file, line).lstrip().startswith(("def ", "async def "))
