"""Metrics that the script prints, by the number of updates made before each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.formats.log.shape import shape_of
from trueline.model.curve import Curve
from trueline.tune.told import Word, lines

_HIGHER: Final = ("acc", "acc1", "acc5", "acc@1", "acc@5", "top1", "top5", "miou", "map")


def logged_curves(words: Sequence[Word]) -> list[Curve]:
    """A curve for each name (acc, val_loss …) that the script prints a number beside, in the order of appearance.

    Of several numbers under one name between two updates the last counts.
    """
    found: dict[str, dict[int, float]] = {}
    for step, text in lines(words):
        for name, (start, end) in shape_of(text).scalars.items():
            found.setdefault(name, {})[step] = float(text[start:end])
    return [Curve(name, list(points), list(points.values())) for name, points in found.items()]


def higher_is_better(name: str) -> bool:
    """Whether a metric of this name is the better the higher it is."""
    return name.rpartition("_")[2] in _HIGHER


def accuracy_of(curves: Sequence[Curve], least: int) -> Curve | None:
    """The accuracy with the most points, if it has at least so many."""
    fit = [curve for curve in curves if higher_is_better(curve.name) and len(curve) >= least]
    return max(fit, key=len, default=None)
