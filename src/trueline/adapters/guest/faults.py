"""Exceptions of the user's code as one line: what was raised, at which of the user's lines, on which side."""

from __future__ import annotations

import errno
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final

from trueline.adapters import FRAMEWORKS
from trueline.adapters.guest.definitions.loaded import left_out, lost_name
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Value
from trueline.model.trouble import Trouble

# A file and a line in it.
Place = tuple[str, int]

_OURS: Final = str(Path(__file__).parents[2]) + os.sep
_MAX_TEXT_LENGTH: Final = 300
# How frameworks say that there is no code for an operator on this device.
_NO_KERNEL: Final = (
    re.compile(r"The kernel (\w+) unregistered"),
    re.compile(r"Create kernelmod for op (\w+) failed"),
    re.compile(r"Select \w+ operator\[(\w+)\] fail"),
    re.compile(r"Unsupported op \[(\w+)\] on"),
    re.compile(r"Could not run '([\w:.]+)' with arguments from the"),
    re.compile(r"\"(\w+)\" not implemented for"),
)

# Where it is said in words of its own that the user's code has asked for the end of the process.
_EXITS: Final = ("importing", "building", "parts")


@contextmanager
def said_for(side: str, doing: str, given: Sequence[Value] = ()) -> Iterator[None]:
    """Around the user's code: whatever it raises becomes one SideTrouble; the whole traceback is printed as usual.

    ``given`` are the arrays that it was run on.
    """
    try:
        yield
    except Trouble:
        raise
    except BaseException as error:  # noqa: BLE001 - also sys.exit() in a module
        traceback.print_exception(error)
        raise _trouble(side, doing, error, given) from None


def _trouble(side: str, doing: str, error: BaseException, given: Sequence[Value]) -> SideTrouble:
    text, place = first_line(error), _place(error)
    if given:
        place += " <- " + ", ".join("x".join(map(str, array.shape)) or "()" for array in given)
    left = left_out(lost_name(error))
    if left is not None:
        return SideTrouble("side.left_out_name", side=side, **left)
    if isinstance(error, SystemExit):
        kind = doing if doing in _EXITS else "running"
        return SideTrouble(f"side.exits_{kind}", side=side, code=_exit_code(error), place=place)
    kernel = next((match for pattern in _NO_KERNEL if (match := pattern.search(words(error)))), None)
    if kernel is not None and doing == "running":
        return SideTrouble("side.no_kernel", side=side, op=kernel[1], error=text, place=place)
    return SideTrouble(f"side.raised_{doing}", side=side, kind=type(error).__name__, error=text, place=place)


def _exit_code(error: SystemExit) -> str:
    """The exit code and message that a SystemExit carries."""
    if error.code is None or isinstance(error.code, int):
        return str(int(error.code or 0))
    return f"1, {first_line(error)}"


def words(error: BaseException) -> str:
    """The text of an error; its ``__str__`` is user code too, and may raise in turn."""
    try:
        return str(error)
    except BaseException as raised:  # noqa: BLE001 - the error that it was asked about is the one to tell of
        return f"({type(raised).__name__} in __str__)"


def first_line(error: BaseException) -> str:
    """The first non-empty line of an error's text."""
    lines = (" ".join(line.split()) for line in words(error).splitlines())
    silent = os.strerror(errno.ENOMEM) if isinstance(error, MemoryError) else "-"
    return next((line for line in lines if line.strip("-=* ")), silent)[:_MAX_TEXT_LENGTH]


def _place(error: BaseException) -> str:
    """The innermost line of the user's own code, else of a package, as file:line."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)}:{error.lineno}"
    frame = nearest(_frames(error.__traceback__))
    return f"{_short(frame[0])}:{frame[1]}" if frame is not None else "-"


def nearest(places: Sequence[Place]) -> Place | None:
    """The innermost frame that is the user's own, else a package's, else any."""
    frames = [frame for frame in places if not frame[0].startswith((_OURS, "<"))]
    # A model out of an installed package is nearer to the user than what it is built with.
    installed = [frame for frame in frames if not frame[0].startswith(_frameworks())]
    users = [frame for frame in frames if is_users(frame[0])] or installed or frames
    return users[-1] if users else None


def is_users(file: str) -> bool:
    """Whether a file is the user's own: neither TrueLine's nor installed."""
    return not file.startswith((_OURS, "<")) and not file.startswith(_packages())


def _frames(trace: TracebackType | None) -> list[Place]:
    return [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]


@cache
def _packages() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    # A user's project may lie below the interpreter's prefix, but not below these.
    return tuple(folder + os.sep for folder in folders)


def _frameworks() -> tuple[str, ...]:
    names = (*FRAMEWORKS, "numpy")
    files = [str(getattr(sys.modules.get(name), "__file__", None) or "") for name in names]
    folders = [
        sysconfig.get_paths()["stdlib"] + os.sep + "importlib",
        *(str(Path(file).parent) for file in files if file),
    ]
    return tuple(folder + os.sep for folder in folders)


def _short(file: str) -> str:
    """Relative to the working directory where that is shorter."""
    here = str(Path.cwd()) + os.sep
    return file.removeprefix(here)


def interpreter() -> str:
    """The interpreter's path and version, for messages."""
    return sys.executable
