"""How a comparison ends."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Equal in every element, apart by no more than rounding explains, or really apart."""

    EQUAL = "equal"
    NOISE = "noise"
    DIFFERS = "differs"


def worst(verdicts: list[Verdict]) -> Verdict | None:
    """The verdict over several comparisons, None where nothing could be compared."""
    return max(verdicts, key=list(Verdict).index, default=None)
