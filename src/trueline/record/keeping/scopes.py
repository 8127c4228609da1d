"""The functions that are running of the user's and of libraries that train for him: their variables, read and set."""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Final

from trueline.record import launch

_OWN: Final = str(Path(__file__).parents[2]) + os.sep
_EXAMPLES: Final = _OWN + "examples" + os.sep
_STANDARD: Final = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED: Final = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
# What computes, and the part of it that trains in the user's place.
_FRAMEWORKS: Final = ("torch", "mindspore")
_TRAINS: Final = f"{os.sep}mindspore{os.sep}train{os.sep}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables of a function that is running, or of a module."""

    name: str
    frame: FrameType | None
    variables: MutableMapping[str, object]

    def set(self, name: str, value: object) -> None:
        """Give a variable another value."""
        if self.frame is None:
            self.variables[name] = value
            return
        # Asked for anew each time: before Python 3.13 it is a copy, which can be written back once.
        self.frame.f_locals[name] = value
        if sys.version_info < (3, 13):
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.frame), ctypes.c_int(0))


def scopes() -> Iterator[Scope]:
    """From the innermost function outwards; a module of the user's comes with the first of its functions."""
    seen: set[int] = set()
    for frame in running():
        file = frame.f_code.co_filename
        if not trains(file):
            continue
        if frame.f_locals is not frame.f_globals:
            yield Scope(frame.f_code.co_name, frame, frame.f_locals)
        if is_users(file) and id(frame.f_globals) not in seen:
            seen.add(id(frame.f_globals))
            yield Scope(str(frame.f_globals.get("__name__", "")), None, frame.f_globals)


def running() -> Iterator[FrameType]:
    """The functions that are running, the innermost first, up to the script."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != launch.__file__:
        yield frame
        frame = frame.f_back


@lru_cache(maxsize=4096)
def is_users(file: str) -> bool:
    """Whether a file is neither installed, nor Python's own, nor TrueLine's."""
    return not file.startswith(("<", *_STANDARD)) and not _is_own(file) and _package(file) is None


@lru_cache(maxsize=4096)
def trains(file: str) -> bool:
    """Whether a file is the user's, or belongs to a library other than what computes."""
    if _TRAINS in file:
        return True
    return is_users(file) or _package(file) not in (None, *_FRAMEWORKS)


def _is_own(file: str) -> bool:
    return file.startswith(_OWN) and not file.startswith(_EXAMPLES)


def _package(file: str) -> str | None:
    """The library that an installed file belongs to."""
    for folder in _INSTALLED:
        _, found, inside = file.rpartition(folder)
        if found:
            return inside.partition(os.sep)[0].removesuffix(".py")
    return None


class Owners:
    """Whose objects count: the user's, and those of the libraries that are at work just now."""

    def __init__(self) -> None:
        files = {frame.f_code.co_filename for frame in running()}
        self._at_work = {package for file in files if trains(file) and (package := _package(file)) is not None}

    def own(self, value: object) -> bool:
        """Whether an object is of a class of theirs, or a bare namespace."""
        kind = type(value)
        if kind.__module__ in ("argparse", "types") and kind.__name__ in ("Namespace", "SimpleNamespace"):
            return True
        file = getattr(sys.modules.get(kind.__module__), "__file__", None) or "<"
        return is_users(file) or (trains(file) and _package(file) in self._at_work)
