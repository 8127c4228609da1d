"""Layers of both sides in the order in which they run, put side by side with as few left over as possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

# A number of a path that both have, as a block's, tells apart what else would fit as well.
_NUMBER: Final = 0.1
_DIGITS: Final = re.compile(r"\d+")


def in_order(here: Sequence[str], there: Sequence[str], fits: Callable[[str, str], bool]) -> dict[str, str]:
    """The counterpart of each path, of all ways to go through both in their order the one that pairs most."""
    wide = len(there) + 1
    best = [[0.0] * wide for _ in range(len(here) + 1)]
    for row in range(len(here) - 1, -1, -1):
        for column in range(len(there) - 1, -1, -1):
            skipped = max(best[row + 1][column], best[row][column + 1])
            score = _score(here[row], there[column], fits)
            best[row][column] = max(skipped, score + best[row + 1][column + 1]) if score else skipped
    found: dict[str, str] = {}
    row = column = 0
    while row < len(here) and column < len(there):
        score = _score(here[row], there[column], fits)
        if score and best[row][column] == score + best[row + 1][column + 1]:
            found[here[row]] = there[column]
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return found


def _score(here: str, there: str, fits: Callable[[str, str], bool]) -> float:
    if not fits(there, here):
        return 0.0
    numbers = [_DIGITS.findall(path) for path in (here, there)]
    return 1.0 + (_NUMBER if numbers[0][:1] == numbers[1][:1] else 0.0)
