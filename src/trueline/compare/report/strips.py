"""How far apart a pair is, as a strip of layers colours it."""

from __future__ import annotations

import math
from typing import Final

from trueline.compare.rows import Row

# A distance of 1e-6 of a tensor's scale or less has the lowest level above noise, one of its whole scale the highest.
_DECADES: Final = 6


def height(row: Row) -> float:
    """From 0, no more than noise, to 1, as far apart as can be."""
    if not row.differs:
        return 0.0
    if not math.isfinite(row.level):
        return 1.0
    return min(1.0, max(0.1, 1.0 + math.log10(row.level) / _DECADES)) if row.level else 0.1
