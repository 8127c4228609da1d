"""Curves and bands as paths, in a picture that is stretched to whatever size it is shown in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from trueline.model.report import Band
from trueline.report.html.axes import Frame
from trueline.report.html.thinning import column_of, stretches

WIDTH: Final = 1000
HEIGHT: Final = 1000
_TICK: Final = 50


def line_path(steps: Sequence[int], values: Mapping[int, float], frame: Frame) -> str:
    """A curve; a value with no finite neighbour is a dot."""
    parts = []
    for stretch in stretches(steps, values):
        points = [_point(step, value, frame) for step, value in stretch]
        parts.append("M" + "L".join(points) + ("" if len(points) > 1 else "l0 0"))
    return "".join(parts)


def broken_path(steps: Sequence[int], curves: Sequence[Mapping[int, float]], first: int, last: int) -> str:
    """A short tick at the bottom for every step with a value that is not finite."""
    broken = {
        column_of(step, first, last, WIDTH + 1)
        for values in curves
        for step in steps
        if step in values and not math.isfinite(values[step])
    }
    return "".join(f"M{column} {HEIGHT}v-{_TICK}" for column in sorted(broken))


def band_path(band: Band, frame: Frame, columns: int) -> str:
    """The area between a band's two sides."""
    sides: dict[int, tuple[float, float]] = {}
    for step, low, high in zip(band.steps, band.low, band.high, strict=True):
        if math.isnan(low) or math.isnan(high) or not frame.first <= step <= frame.last:
            continue
        column = column_of(step, frame.first, frame.last, columns)
        lower, upper = sides.get(column, (low, high))
        sides[column] = min(low, lower), max(high, upper)
    if len(sides) < 2:
        return ""
    across = max(1, columns - 1)
    there, back = [], []
    for column, (low, high) in sides.items():
        x = _short(column / across * WIDTH)
        there.append(f"{x} {_short(frame.y(high) * HEIGHT)}")
        back.append(f"{x} {_short(frame.y(low) * HEIGHT)}")
    return "M" + "L".join(there + back[::-1]) + "Z"


def _point(step: int, value: float, frame: Frame) -> str:
    return f"{_short(frame.x(step) * WIDTH)} {_short(frame.y(value) * HEIGHT)}"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
