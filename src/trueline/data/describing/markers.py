"""The dataset's own marks for what is missing, guessed from what values are in a field and how far they lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# How people write that there is nothing, in lower case.
TEXTS: Final = frozenset(
    {"?", "??", "na", "n/a", "n.a.", "#n/a", "null", "<null>", "none", "nil", "nan", "-", "--", "\\n", "missing"}
)
LONGEST_TEXT: Final = max(map(len, TEXTS))
NUMBERS: Final = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
# As many distinct values as a quantity has that is measured, and a code has not.
_QUANTITY_DISTINCT: Final = 20
# So many times their own range other values lie away from a marker outside of it.
_FAR_OUTSIDE_RANGES: Final = 2.0
# So many times as often as another value a marker is there that lies beside them.
_OFTEN: Final = 3.0


@dataclass(frozen=True, slots=True)
class Spread:
    """A field's numbers without those that may be markers; ``fractions`` says whether some are no integers.

    ``count`` is how many there are, ``distinct`` how many different ones.
    """

    low: float
    high: float
    count: int
    distinct: int
    fractions: bool


def guess(candidates: Mapping[float, int], others: Spread | None) -> list[float]:
    """Which of some numbers, of which a field has so many, are no values but markers."""
    if others is None:
        return []
    return [value for value, count in candidates.items() if count and _is_marker(value, count, others)]


def _is_marker(value: float, count: int, others: Spread) -> bool:
    width = others.high - others.low
    if others.low <= value <= others.high:
        return False
    if value == -1:
        # Integers may well go on below 0: there it must be apart from them, or more frequent than they are.
        often = count * others.distinct > _OFTEN * others.count
        apart = others.low > 1 or often
        return others.low >= 0 and width > 0 and (others.fractions or (apart and others.distinct >= _QUANTITY_DISTINCT))
    if value < 0 and others.low >= 0:
        return True
    return min(abs(value - others.low), abs(value - others.high)) > _FAR_OUTSIDE_RANGES * width
