"""What an operator over whole axes may be: softmax, normalisation, a reduction, a mask."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.pair.ops.forms import Form
from trueline.pair.ops.same_values import MASKED, Floats, equal, floats, level

Axes = tuple[int, ...]

_LEAST_KEPT: Final = 8
_LEAST_EPS: Final = 1e-6
_MOST_CONSTANT: Final = 0.98


def softmax(x: Array, axis: int) -> Floats:
    """Softmax over an axis."""
    found = floats(x)
    raised = np.exp(found - found.max(axis=axis, keepdims=True))
    return floats(raised / raised.sum(axis=axis, keepdims=True))


def _log_softmax(x: Array, axis: int) -> Floats:
    found = floats(x)
    found = found - found.max(axis=axis, keepdims=True)
    return floats(found - np.log(np.exp(found).sum(axis=axis, keepdims=True)))


REDUCTIONS: Final[Mapping[str, Callable[[Floats, Axes], Array]]] = {
    "mean": lambda x, axes: x.mean(axis=axes),
    "sum": lambda x, axes: x.sum(axis=axes),
    "max": lambda x, axes: x.max(axis=axes),
    "min": lambda x, axes: x.min(axis=axes),
    "var": lambda x, axes: x.var(axis=axes),
    "var_unbiased": lambda x, axes: x.var(axis=axes, ddof=1),
    "std": lambda x, axes: x.std(axis=axes),
    "std_unbiased": lambda x, axes: x.std(axis=axes, ddof=1),
    "norm": lambda x, axes: np.sqrt(np.square(x).sum(axis=axes)),
    "mean_square": lambda x, axes: np.square(x).mean(axis=axes),
    "logsumexp": lambda x, axes: np.log(np.exp(x).sum(axis=axes)),
}


def over_axes(given: Array, made: Array, floor: float, kind: str = "") -> Form | None:
    """The softmax, normalisation or reduction that makes one value from another."""
    if not given.size or not made.size:
        return None
    with np.errstate(all="ignore"):
        if given.size == made.size:
            return _softmax(given, made, floor, kind) or _normalised(given, made, floor)
        return _reduction(given, made, floor, kind)


def _softmax(given: Array, made: Array, floor: float, kind: str = "") -> Form | None:
    found = floats(made)
    if not np.isfinite(found).any() or np.nanmin(found) < 0.0 < np.nanmax(found) or np.nanmax(found) > 1.0 + floor:
        return None
    for axis in reversed(range(given.ndim)):
        for name, function in (("softmax", softmax), ("log_softmax", _log_softmax)):
            # Over an axis of one element it is only one if the operator says so.
            if given.shape[axis] < 2 and name != kind:
                continue
            if equal(_or_as_made(function(given, axis), found), made, floor):
                return Form(name, "softmax", _along(function, axis), {"axis": axis - given.ndim})
    return None


def _or_as_made(shares: Floats, made: Floats) -> Floats:
    """Where all is masked there are no shares, and each framework gives something else."""
    return (
        floats(np.where(np.isnan(shares), made.reshape(shares.shape), shares)) if shares.size == made.size else shares
    )


def _along(function: Callable[[Array, int], Floats], axis: int) -> Callable[[Array], Array]:
    return lambda value: function(value, axis)


def subsets(axes: int) -> Iterator[Axes]:
    """Sets of axes: all from the last on, then the others."""
    for count in range(1, axes + 1):
        for chosen in combinations(reversed(range(axes)), count):
            yield tuple(sorted(chosen))


def _reduction(given: Array, made: Array, floor: float, kind: str) -> Form | None:
    if made.size > given.size or given.size % max(made.size, 1):
        return None
    found = floats(given)
    names = sorted(REDUCTIONS, key=lambda one: one.split("_")[0] != kind)
    one, near = float(made.flat[0]), 4 * floor * float(np.max(np.abs(floats(made))))
    for axes in subsets(given.ndim):
        left = math.prod(size for axis, size in enumerate(given.shape) if axis not in axes)
        if left != made.size or left == given.size:
            continue
        first = _corner(found, axes)
        for name in names:
            if abs(float(REDUCTIONS[name](first, _all_axes(first))) - one) > near:
                continue
            if level(REDUCTIONS[name](found, axes), made) <= floor:
                return Form(name, "reduction", _reduce(name, axes), {"axes": _from_end(axes, given.ndim)})
    return None


def _reduce(name: str, axes: Axes) -> Callable[[Array], Array]:
    return lambda value: REDUCTIONS[name](floats(value), axes)


def _corner(value: Floats, axes: Axes) -> Floats:
    """The first of the stretches that a function over these axes takes."""
    return value[tuple(slice(None) if axis in axes else 0 for axis in range(value.ndim))]


def _all_axes(value: Floats) -> Axes:
    """All axes of a value."""
    return tuple(range(value.ndim))


def _from_end(axes: Axes, count: int) -> Axes:
    return tuple(axis - count for axis in axes)


def _normalised(given: Array, made: Array, floor: float) -> Form | None:
    found, wanted = floats(given), floats(made).reshape(given.shape)
    for axes in subsets(given.ndim):
        if math.prod(given.shape[axis] for axis in axes) < 2:
            continue
        for name, centred, squares in (
            ("standardise", True, np.mean),
            ("rms_norm", False, np.mean),
            ("l2_norm", False, np.sum),
        ):
            if not _parallel(_corner(found, axes), _corner(wanted, axes), centred, floor):
                continue
            form = _with_eps(name, centred, squares, axes, given, made, floor)
            if form is not None:
                return form
    return None


def _with_eps(
    name: str, centred: bool, squares: Callable[..., Array], axes: Axes, given: Array, made: Array, floor: float
) -> Form | None:
    """A division by the root of the axes' squares and an eps; the eps is read off the values."""

    def parts(value: Array) -> tuple[Floats, Floats]:
        found = floats(value)
        if centred:
            found = found - found.mean(axis=axes, keepdims=True)
        return found, floats(squares(np.square(found), axis=axes, keepdims=True))

    def apply(value: Array, eps: float) -> Array:
        top, below = parts(value)
        return floats(top / np.sqrt(below + eps))

    top, below = parts(given)
    wanted = floats(made).reshape(given.shape)
    ratio = np.square(top / np.where(wanted == 0, np.nan, wanted)) - below
    if np.isnan(ratio).all():
        return None
    eps = float(np.nanmedian(ratio))
    # What is left of an eps within the rounding of the squares is none.
    for tried in (eps, 0.0):
        if tried >= 0 and equal(apply(given, tried), made, floor):
            rounded = float(f"{tried:.1e}") if tried > _LEAST_EPS * float(np.median(below)) else 0.0
            settings: dict[str, Json] = {"axes": _from_end(axes, given.ndim), "eps": rounded}
            return Form(name, "norm", partial(apply, eps=tried), settings)
    return None


def _parallel(given: Floats, made: Floats, centred: bool, floor: float) -> bool:
    """Whether a stretch has only been shortened or lengthened."""
    given = given - given.mean() if centred else given
    here, there = float(np.sqrt(np.square(given).sum())), float(np.sqrt(np.square(made).sum()))
    if not (here and there):
        return False
    shortened = given / here
    return bool(np.abs(made / there - shortened).max() <= 10 * floor * np.abs(shortened).max())


def masked(given: Array, made: Array, floor: float) -> Form | None:
    """One constant at some places, the value itself at the others."""
    if given.size != made.size or given.size < _LEAST_KEPT:
        return None
    x, y = floats(given).reshape(-1), floats(made).reshape(-1)
    with np.errstate(all="ignore"):
        # What is masked already is no scale for what is not.
        seen = np.abs(x[(x > MASKED) & np.isfinite(x)])
        kept = (np.abs(x - y) <= floor * max(float(seen.max(initial=0.0)), 1e-30)) | (x == y)
    if kept.all() or kept.mean() < 1 - _MOST_CONSTANT:
        return None
    put = y[~kept]
    if not ((put == put[0]).all() or (np.isfinite(put).all() and (np.abs(put - put[0]) <= floor * abs(put[0])).all())):
        return None
    constant, places = float(put[0]), kept.reshape(given.shape)

    def apply(value: Array) -> Array:
        return np.where(places, floats(value).reshape(places.shape), constant)

    return Form("mask", "mask", apply, {"value": constant, "share": round(float(1 - kept.mean()), 3)})
