"""What half precision would do with the gradients of a run, scale by scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.tune.scale.seen import LARGEST, SeenUpdate, Sizes

# Exponents of half precision: its smallest number, and the smallest that has all its digits.
_SMALLEST: Final = -24
_WHOLE: Final = -14


@dataclass(frozen=True, slots=True)
class Row:
    """For one scale: the share of updates that overflow, and of gradient elements that vanish or lose digits."""

    power: int
    overflow: float
    underflow: float
    subnormal: float

    @property
    def scale(self) -> float:
        """The scale itself."""
        return 2.0**self.power


def row_of(power: int, updates: Sequence[SeenUpdate], sizes: Sizes) -> Row:
    """The shares at the scale 2^power."""
    countable = [update for update in updates if not update.own_fault]
    over = sum(overflows(update, 2.0**power) for update in countable)
    under = sizes.share_below(_SMALLEST - power)
    return Row(power, over / len(countable) if countable else 0.0, under, sizes.share_below(_WHOLE - power) - under)


def overflows(update: SeenUpdate, scale: float) -> bool:
    """Whether it would at this scale; one whose size is unknown does at its own scale and above."""
    if update.largest is None:
        return scale >= update.scale
    return update.largest * scale > LARGEST


def nearest_power(scale: float) -> int:
    """The power of two nearest to a scale."""
    return round(math.log2(scale)) if scale > 0 else 0


def table(powers: Sequence[int], updates: Sequence[SeenUpdate], sizes: Sizes) -> list[Row]:
    """A row for each."""
    return [row_of(power, updates, sizes) for power in powers]
