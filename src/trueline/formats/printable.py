"""Texts out of files, fit to be shown, or to name a file."""

from __future__ import annotations

import os
from typing import Final

_LONGEST_NAME: Final = 255


def printable(text: str, most: int = 200) -> str:
    """The beginning of a text, on one line and without control characters."""
    return "".join(one if one.isprintable() else "?" for one in text[:most])


def is_plain_name(name: str) -> bool:
    """Whether a text names an entry of the folder it is looked up in, and nothing above, beside or far from it."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        return False
    try:
        return len(os.fsencode(name)) <= _LONGEST_NAME
    except UnicodeEncodeError:
        return False
