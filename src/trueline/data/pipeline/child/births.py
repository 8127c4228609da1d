"""Where the user's code builds objects: the line of each, seen while its factory runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from trueline.adapters.guest.faults import is_users
from trueline.model.location import Location


class Births:
    """The user's lines by object."""

    def __init__(self) -> None:
        self._lines: dict[int, tuple[str, Location]] = {}
        self._arguments: dict[int, dict[str, bool | int | float | str | None]] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """In the block every constructor that is called is noted."""
        before = sys.getprofile()
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(before)

    def line(self, value: object) -> Location | None:
        """The user's line that built an object."""
        kind, line = self._lines.get(id(value), ("", None))
        return line if kind == type(value).__name__ else None

    def argument(self, value: object, name: str) -> bool | int | float | str | None:
        """What the constructor of an object was given under a name; None where that is not known."""
        return self._arguments.get(id(value), {}).get(name) if self.line(value) is not None else None

    def _see(self, frame: FrameType, event: str, _: object) -> None:
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
        self._lines[id(value)] = (type(value).__name__, Location(caller.f_code.co_filename, caller.f_lineno))
        if not _inner(frame, value):
            names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            self._arguments[id(value)] = {name: _plain(frame.f_locals.get(name)) for name in names}


def _plain(value: object) -> bool | int | float | str | None:
    return value if isinstance(value, bool | int | float | str) else None


def _inner(frame: FrameType, value: object) -> bool:
    """Whether this is the constructor of a base class, called by that of the class."""
    caller = frame.f_back
    while caller is not None:
        first = caller.f_code.co_varnames[:1]
        named = caller.f_code.co_name == "__init__" and first
        if named and caller.f_code is not frame.f_code and caller.f_locals.get(first[0]) is value:
            # A decorator around a constructor has its name, and arguments of another kind.
            return bool(caller.f_code.co_argcount)
        caller = caller.f_back
    return False


def _same(caller: FrameType, frame: FrameType) -> bool:
    """Whether both constructors work on the same object."""
    names = (caller.f_code.co_varnames[:1], frame.f_code.co_varnames[:1])
    if not names[0] or not names[1]:
        return False
    return caller.f_locals.get(names[0][0]) is frame.f_locals.get(names[1][0])
