"""The watchpoints that suit a network nobody has chosen any for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from trueline.watch.points.conditions import activation_of
from trueline.watch.points.point import Point, point

# A layer behind a branch that begins at zero has no gradient in the first step, and it has one in the next.
_VANISHED_FOR: Final = 3


def recommended(activations: Collection[str]) -> list[Point]:
    """What is a fault in nearly every network; saturation only where it has activations that saturate."""
    chosen = [
        point("WI"),
        point("WO"),
        # The debugger's tolerances would tell every bias before a BatchNorm, whose gradient is rounding.
        point("WNC", rtol=0.0, atol=0.0),
        point("WCL", ratio=1.0),
        point("GV", steps=_VANISHED_FOR),
        point("GE"),
        point("TO"),
    ]
    return (
        [*chosen, point("AR")] if any(activation_of(activation) is not None for activation in activations) else chosen
    )
