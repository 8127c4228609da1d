"""Doubles whose squares leave the range of doubles are measured again, times a power of two."""

from __future__ import annotations

import math

_SMALL, _LARGE = 1e-65, 1e65


def needs_scaling(largest: float) -> bool:
    """Sums of squares of such numbers, or products of such sums, could overflow or vanish."""
    return largest > _LARGE or 0.0 < largest < _SMALL


def power_of_two(largest: float) -> float:
    """The factor that brings the largest number near 1, exactly."""
    exponent = math.frexp(largest)[1] if math.isfinite(largest) else 1024
    return math.ldexp(1.0, -max(-1000, min(1000, exponent)))
