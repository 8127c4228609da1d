"""Text measured in terminal columns: a Chinese character takes two."""

from __future__ import annotations

import re
import unicodedata

# A break may come after a space and around a wide character, but never before closing punctuation.
_PIECE = re.compile(r"(?<!\s)\s*+(?:[^\s\u2e80-\u9fff\uff00-\uffef]+|[^\s])[，。；：、！？）」』”’]*")


def columns(text: str) -> int:
    """How many columns a terminal needs for a text."""
    return sum(_width(character) for character in text)


def wrap(text: str, width: int) -> list[str]:
    """A paragraph as lines of at most ``width`` columns, except for words longer than that."""
    lines: list[str] = []
    line = ""
    for piece in _PIECE.findall(text):
        if line and columns(line) + columns(piece) > width:
            lines.append(line)
            line = piece.lstrip()
        else:
            line += piece if line else piece.lstrip()
    return [*lines, line] if line else lines


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
