"""When to look: what costs a pass over all weights is done in the first steps and at powers of two."""

from __future__ import annotations

_FIRST_UPDATES = 4


def due(number: int) -> bool:
    """Whether the update of this number (from 0) is looked at."""
    return number < _FIRST_UPDATES or number & (number - 1) == 0
