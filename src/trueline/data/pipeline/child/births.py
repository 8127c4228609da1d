"""Where the user's code builds objects: the line of each, seen while its factory runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from trueline.adapters.guest.faults import is_users
from trueline.model.run import Line


class Births:
    """The user's lines by object."""

    def __init__(self) -> None:
        self._lines: dict[int, tuple[str, Line]] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """In the block every constructor that is called is noted."""
        before = sys.getprofile()
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(before)

    def line(self, value: Any) -> Line | None:
        """The user's line that built an object."""
        kind, line = self._lines.get(id(value), ("", None))
        return line if kind == type(value).__name__ else None

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name != "__init__" or not code.co_argcount:
            return
        caller = frame.f_back
        while caller is not None and not is_users(caller.f_code.co_filename):
            caller = caller.f_back
        # Within a constructor of the user's own, the line that called that one is meant.
        while caller is not None and caller.f_code.co_name == "__init__" and _same(caller, frame):
            caller = caller.f_back
        if caller is None:
            return
        value = frame.f_locals.get(code.co_varnames[0])
        self._lines[id(value)] = (type(value).__name__, Line(caller.f_code.co_filename, caller.f_lineno))


def _same(caller: FrameType, frame: FrameType) -> bool:
    """Whether both constructors work on the same object."""
    names = (caller.f_code.co_varnames[:1], frame.f_code.co_varnames[:1])
    if not names[0] or not names[1]:
        return False
    return caller.f_locals.get(names[0][0]) is frame.f_locals.get(names[1][0])
