"""Who has called: the user's line, and the file right behind the call."""

from __future__ import annotations

import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType

from trueline.model.location import Location

_HERE = str(Path(__file__).parent)
_OURS = str(Path(__file__).parent.parent.parent)
_ADAPTERS = str(Path(_OURS) / "adapters")
_STANDARD = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
_IMPORTING = "<frozen importlib"
# What hands on randomness for whoever calls it.
_HANDING_ON = ("random", "secrets", "uuid")


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether a file is of an installed package."""
    return file.startswith(_INSTALLED)


@lru_cache(maxsize=4096)
def is_standard(file: str) -> bool:
    """Whether a file is of the standard library."""
    return (file.startswith(_STANDARD) and not is_installed(file)) or file.startswith("<")


@lru_cache(maxsize=4096)
def is_users(file: str) -> bool:
    """Whether a file is the user's own."""
    return not is_standard(file) and not is_installed(file) and not file.startswith(_OURS)


def users_line(frame: FrameType | None = None) -> Location | None:
    """The innermost line of the user's; None where it only imports a package that does this by itself."""
    found = frame if frame is not None else sys._getframe(1)
    while found is not None:
        file = found.f_code.co_filename
        if is_users(file):
            return Location(file, found.f_lineno)
        if file.startswith(_IMPORTING):
            return None
        found = found.f_back  # type: ignore[assignment]
    return None


def asking_file() -> str:
    """The file of the innermost frame that is neither this room's nor hands on randomness."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        handing_on = is_standard(file) and Path(file).stem in _HANDING_ON
        if not file.startswith((_HERE, _ADAPTERS)) and not handing_on:
            return file
        frame = frame.f_back
    return ""


def is_ours(file: str) -> bool:
    """Whether a file is TrueLine's."""
    return file.startswith(_OURS)
