"""Which learning rate is tried when.

Nothing here imports NumPy: the process that trains asks too.
"""

from __future__ import annotations

from typing import Final

EXPONENTIAL: Final = "exp"
LINEAR: Final = "linear"


def short(rate: float) -> float:
    """A rate in the two digits that a test can tell."""
    return float(f"{rate:.2g}")


def rate_at(shape: str, low: float, high: float, share: float) -> float:
    """The rate after a share (0 to 1) of the way from the lowest to the highest."""
    if shape == LINEAR:
        return low + (high - low) * share
    return float(low * (high / low) ** share)
