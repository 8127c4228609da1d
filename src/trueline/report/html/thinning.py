"""Fewer points that look the same: the smallest and the largest of every column of the picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from trueline.model.curve import Curve


def column_of(step: int, first: int, last: int, columns: int) -> int:
    """The column of a step, from 0."""
    return (step - first) * (columns - 1) // (last - first) if last > first else 0


def telling_steps(curves: Sequence[Curve], columns: int, always: Iterable[int] = ()) -> list[int]:
    """The steps to draw, the same for all curves: all of them while they are few."""
    steps = {step for curve in curves for step in curve.steps}
    if len(steps) <= 2 * columns:
        return sorted(steps)
    first, last = min(steps), max(steps)
    kept = {first, last, *(step for step in always if step in steps)}
    for curve in curves:
        kept |= _extremes(curve, first, last, columns)
    return sorted(kept)


def _extremes(curve: Curve, first: int, last: int, columns: int) -> set[int]:
    lowest: dict[int, tuple[float, int]] = {}
    highest: dict[int, tuple[float, int]] = {}
    broken: dict[int, int] = {}
    for step, value in zip(curve.steps, curve.values, strict=True):
        column = column_of(step, first, last, columns)
        if not math.isfinite(value):
            broken.setdefault(column, step)
            continue
        if column not in lowest or value < lowest[column][0]:
            lowest[column] = (value, step)
        if column not in highest or value > highest[column][0]:
            highest[column] = (value, step)
    return {step for _, step in (*lowest.values(), *highest.values())} | set(broken.values())


def stretches(steps: Sequence[int], values: Mapping[int, float]) -> list[list[tuple[int, float]]]:
    """The points at these steps, cut where a value is not finite: no line crosses those."""
    found: list[list[tuple[int, float]]] = [[]]
    for step in steps:
        if step not in values:
            continue
        if math.isfinite(values[step]):
            found[-1].append((step, values[step]))
        elif found[-1]:
            found.append([])
    return [stretch for stretch in found if stretch]
