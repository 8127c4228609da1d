"""When a watchpoint is met: from a tensor's numbers to what was measured and the limits it broke, or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueline.kernel import pieces
from trueline.kernel.array import Array
from trueline.model.distance import Distance
from trueline.model.summary import Summary

Limits: TypeAlias = Mapping[str, float]
Broken: TypeAlias = tuple[dict[str, float], dict[str, float]]

_PIECE: Final = 1 << 16
# The debugger's own: what a weight of nothing but zeros is divided by.
_RATIO_EPS: Final = 1e-9
_ACTIVATIONS: Final = frozenset(("tanh", "sigmoid", "relu"))


def activation_of(kind: str) -> str | None:
    """tanh, sigmoid or relu out of the name of a module's type; None for all others."""
    name = kind.rpartition(".")[2].lower()
    return name if name in _ACTIVATIONS else None


def is_non_finite(summary: Summary) -> Broken | None:
    """NaN or Inf among the elements."""
    if not summary.non_finite:
        return None
    counts = {"non_finite": summary.non_finite, "nan": summary.nan, "inf": summary.pos_inf + summary.neg_inf}
    return {**counts, "count": summary.count}, {"non_finite": 0}


def is_beyond(summary: Summary, limits: Limits, *, larger: bool) -> Broken | None:
    """The abs mean, maximum, minimum or mean of the finite elements beyond its limit."""
    if summary.count == summary.non_finite:
        return None
    numbers = {"absmean": summary.abs_mean, "max": summary.maximum, "min": summary.minimum, "mean": summary.mean}
    measured = {
        name: value
        for name, value in numbers.items()
        if name in limits and (value > limits[name] if larger else value < limits[name])
    }
    return (measured, {name: limits[name] for name in measured}) if measured else None


def has_zeros(summary: Summary, limits: Limits) -> Broken | None:
    """So many zeros."""
    if not summary.count or summary.zero_share < limits["zeros"]:
        return None
    return {"zeros": summary.zero_share}, {"zeros": limits["zeros"]}


def is_initialised_oddly(summary: Summary, dimensions: int, limits: Limits) -> Broken | None:
    """Nothing but zeros, or numbers outside limits; a bias or a scale may well begin at zero."""
    found = has_zeros(summary, limits) if dimensions >= limits["dims"] else None
    if found is not None or not summary.count:
        return found
    if summary.maximum > limits.get("max", math.inf):
        return {"max": summary.maximum}, {"max": limits["max"]}
    if summary.minimum < limits.get("min", -math.inf):
        return {"min": summary.minimum}, {"min": limits["min"]}
    return None


def is_unchanged(change: Distance, limits: Limits) -> Broken | None:
    """All elements close to those of the step before."""
    if not change.comparable or not change.count or change.within < 1.0:
        return None
    return {"change": change.max_abs}, {"rtol": limits["rtol"], "atol": limits["atol"]}


def change_ratio(change: Distance, abs_mean_before: float) -> float:
    """How much a weight has changed, against its size before."""
    return change.mean_abs / (abs_mean_before + _RATIO_EPS)


def is_changed_beyond(ratio: float, limits: Limits, *, larger: bool) -> Broken | None:
    """A change too large or too small against the weight."""
    limit = limits["ratio"]
    if not (ratio > limit if larger else ratio < limit):
        return None
    return {"ratio": ratio}, {"ratio": limit}


def is_outside(array: Array, limits: Limits) -> Broken | None:
    """The share of elements inside a range below or above a limit."""
    below, above, low, high = limits.get("below"), limits.get("above"), limits["low"], limits["high"]
    if not array.size:
        return None
    # Where only too few would be a hit, the rest need not be counted once there are enough.
    enough = below * array.size if below is not None and above is None else math.inf
    share = _count(array, lambda values: (values >= low) & (values <= high), enough) / array.size
    if below is not None and share < below:
        return {"inside": share}, {"below": below, "low": low, "high": high}
    if above is not None and share > above:
        return {"inside": share}, {"above": above, "low": low, "high": high}
    return None


def is_saturated(array: Array, activation: str, limits: Limits) -> Broken | None:
    """Before a tanh or sigmoid hardly anything where it has a slope, or before a ReLU hardly a positive number."""
    count = array.size
    if not count:
        return None
    if activation == "relu":
        dead = limits["zeros"]
        # A NaN is not positive, and no zero comes out of it.
        alive = _count(array, lambda values: ~(values <= 0), (1 - dead) * count + 1)
        zeros = 1 - alive / count
        return ({"zeros": zeros}, {"zeros": dead}) if zeros > dead else None
    bound, least = limits[activation], limits["inside"]
    share = _count(array, lambda values: (values >= -bound) & (values <= bound), least * count) / count
    return ({"inside": share}, {"inside": least, activation: bound}) if share < least else None


def _count(array: Array, test: Callable[[Array], NDArray[np.bool_]], enough: float) -> int:
    """How many elements pass a test; counted no further than enough."""
    found = 0
    for piece in pieces(array, _PIECE):
        # Half floats are compared as what they are, not with a limit rounded to their few digits.
        found += int(np.count_nonzero(test(piece.astype(np.float32) if piece.dtype.itemsize == 2 else piece)))
        if found >= enough:
            break
    return found
