"""The user's functions that are running, and the modules they belong to: their variables, read and set."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

_OWN: Final = str(Path(__file__).parents[2])


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of a function that is running, or of a module."""

    name: str
    frame: FrameType | None
    variables: MutableMapping[str, Any]

    def set(self, name: str, value: Any) -> None:
        """Give a variable another value."""
        if self.frame is None:
            self.variables[name] = value
            return
        # Asked for anew each time: before Python 3.13 it is a copy, which can be written back once.
        self.frame.f_locals[name] = value
        if sys.version_info < (3, 13):
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.frame), ctypes.c_int(0))


def scopes() -> Iterator[Scope]:
    """From the innermost function outwards; a module comes with the first of its functions."""
    frame: FrameType | None = sys._getframe(1)
    seen: set[int] = set()
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            if frame.f_locals is not frame.f_globals:
                yield Scope(frame.f_code.co_name, frame, frame.f_locals)
            if id(frame.f_globals) not in seen:
                seen.add(id(frame.f_globals))
                yield Scope(str(frame.f_globals.get("__name__", "")), None, frame.f_globals)
        frame = frame.f_back


def is_users(file: str) -> bool:
    """Whether a file is neither installed, nor Python's own, nor TrueLine's."""
    installed = "site-packages" in file or file.startswith(("<", sys.base_prefix))
    return not installed and not file.startswith(_OWN)


def is_of_users_class(value: Any) -> bool:
    """Whether an object is of a class that the user has written, or a bare namespace."""
    kind = type(value)
    if kind.__module__ in ("argparse", "types") and kind.__name__ in ("Namespace", "SimpleNamespace"):
        return True
    return is_users(getattr(sys.modules.get(kind.__module__), "__file__", None) or "<")
