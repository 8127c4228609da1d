"""TOML out of foreign files: what the standard library's parser would take for ever over is refused before."""

from __future__ import annotations

import tomllib
from typing import Any, Final

# The parser's work grows with the cube of a dotted key's parts.
_MOST_DOTS: Final = 500


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a text; a ValueError says what is wrong with it."""
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"more than {_MOST_DOTS} dots on one line")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
