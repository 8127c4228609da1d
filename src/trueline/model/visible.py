"""Texts out of files, names and errors, fit for a terminal: nothing in them steers it or breaks its lines."""

from __future__ import annotations

import re
from typing import Final

# What moves the cursor, changes colours or turns the writing direction around; halves of characters cannot be written.
_STEERING: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT: Final = re.compile(f"[{_STEERING}]")
_IN_LINE: Final = re.compile(f"[{_STEERING}\t\n]")


def visible(text: str) -> str:
    """A text with its control characters made visible; line ends and tabs stay."""
    return _IN_TEXT.sub(_escaped, text)


def on_one_line(text: str) -> str:
    """A name or sentence with its line ends and tabs made visible too: it is one line, whatever is in it."""
    return _IN_LINE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
