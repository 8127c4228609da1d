"""Two answers of one call: do they agree, and if not, in what.

What rounding explains vanishes in double precision, and only that does: a small disagreement is called one of precision
where both agree in float64, and of values where they do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from trueline.adapters.lab.call import Answer
from trueline.kernel.array import Array

# How often torch's own distance from double precision is taken for noise, and how many roundings besides.
_TIMES_OWN_ERROR: Final = 10.0
_ROUNDINGS: Final = 64.0
_ROUNDINGS_OF_INPUTS: Final = 2.0
_MODERATE: Final = 10.0
# What outputs are weighed with before gradients are taken.
_WEIGHTS: Final = 1.5
# Of the largest value: what coarse approximations of elementary functions reach, and no other formula stays below
# in double precision.
COARSE: Final = 2e-3
_DOUBLE: Final = 1e-9
_NEXT_TO_NOTHING: Final = 2e-5
_NO_DOUBLE: Final = 2e-4
# Two samples of one distribution are seldom further apart than this, times the root of 2 over their size.
_CHANCE: Final = 2.6
_KERNEL: Final = re.compile(
    r"unregistered|not registered|Kernel select failed|Not found op .{0,60} on device|Create kernelmod for op"
    r"|Unsupported op \[|select kernel|No kernel|kernel.{0,80}not support.{0,80}CPU"
    r"|not supported? (?:on|in|for|by) (?:the )?(?:CPU|device)"
    r"|only support(?:s|ed)? (?:on |for )?(?:the )?(?:Ascend|GPU)"
    r"|does not support.{0,40}CPU|platform.{0,30}CPU|device.{0,20}CPU.{0,40}not support|Can not find any available",
    re.IGNORECASE | re.DOTALL,
)


class What(StrEnum):
    """In what two answers disagree."""

    NOTHING = "nothing"
    VALUES = "values"
    GRADIENT = "gradient"
    SHAPE = "shape"
    DTYPE = "dtype"  # float against integer or bool
    WIDTH = "width"  # int32 against int64, float32 against float64: the same numbers
    RAISES = "raises"  # MindSpore raises, torch does not
    KERNEL = "kernel"  # MindSpore has no kernel on this device
    PRECISION = "precision"  # more than rounding, and gone in double precision
    INVALID = "invalid"  # torch itself raises: no case


@dataclass(frozen=True, slots=True)
class Verdict:
    """In what they disagree, by how much of the largest value, and in which output."""

    what: What
    distance: float = 0.0
    place: int = 0
    # A disagreement that is small enough to be one of precision; float64 decides.
    small: bool = False

    @property
    def agrees(self) -> bool:
        """Whether a user of both would see the same numbers."""
        return self.what in (What.NOTHING, What.PRECISION, What.WIDTH)


def judged(
    torch: Answer,
    mindspore: Answer,
    double: Answer | None,
    *,
    inputs: float = 0.0,
    random: bool = False,
    uninitialised: bool = False,
) -> Verdict:
    """The verdict on two answers; ``double`` is torch's in float64, which says what rounding explains.

    ``inputs`` is the largest number that went in: what comes out is not more precise than that. Of ``random`` answers
    the distribution is compared, of ``uninitialised`` ones only shape and type.
    """
    if torch.error is not None:
        return Verdict(What.INVALID)
    if mindspore.error is not None:
        return Verdict(What.KERNEL if _KERNEL.search(" ".join(mindspore.error)) else What.RAISES)
    reference = double if double is not None and double.error is None else None
    if uninitialised:
        return _formed(torch.outputs, mindspore.outputs)
    if random:
        return _random(torch.outputs, mindspore.outputs)
    if torch.forms and set(torch.forms) == {"statistic"}:
        return _statistics(torch.outputs, mindspore.outputs)
    own = reference.outputs if reference is not None and len(reference.outputs) == len(torch.outputs) else None
    found = _compared(torch.outputs, mindspore.outputs, own, inputs)
    if found.what in (What.NOTHING, What.DTYPE, What.WIDTH):
        gradients = _gradients(torch.gradients, mindspore.gradients, reference.gradients if reference else None)
        if gradients.what is not What.NOTHING:
            return gradients
    return found


def precise(verdict: Verdict, torch: Answer, mindspore: Answer) -> Verdict:
    """A small disagreement, looked at in float64: what is gone there is one of precision.

    So is what is next to nothing, whatever float64 does: kernels take float32 functions for it. Another formula shows
    by more in other calls.
    """
    if verdict.distance < _NEXT_TO_NOTHING:
        return Verdict(What.PRECISION, verdict.distance, verdict.place)
    if torch.error is not None:
        return verdict
    if mindspore.error is not None:
        # No float64 here: coarse kernels of float32 reach this far.
        return Verdict(What.PRECISION, verdict.distance, verdict.place) if verdict.distance < _NO_DOUBLE else verdict
    pairs = [*zip(torch.outputs, mindspore.outputs, strict=False)]
    pairs += [
        (torch.gradients[name], mindspore.gradients[name]) for name in torch.gradients if name in mindspore.gradients
    ]
    if all(_near(ours, theirs, _DOUBLE) for ours, theirs in pairs):
        return Verdict(What.PRECISION, verdict.distance, verdict.place)
    return verdict


def _compared(ours: Sequence[Array], theirs: Sequence[Array], own: Sequence[Array] | None, inputs: float) -> Verdict:
    if len(ours) != len(theirs):
        return Verdict(What.SHAPE, float("inf"))
    dtype: Verdict | None = None
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.shape != b.shape:
            return Verdict(What.SHAPE, float("inf"), place)
        if a.dtype.kind in "OUS" or b.dtype.kind in "OUS":
            continue
        if a.dtype != b.dtype and dtype is None:
            dtype = _of_types(a, b, place)
        reference = own[place] if own is not None and own[place].shape == a.shape else None
        found = _values(a, b, reference, What.VALUES, place, inputs)
        if found.what is not What.NOTHING:
            return found
    return dtype or Verdict(What.NOTHING)


def _values(a: Array, b: Array, reference: Array | None, what: What, place: int, inputs: float = _WEIGHTS) -> Verdict:
    if a.size == 0:
        return Verdict(What.NOTHING)
    exact = a.dtype.kind in "biu" and b.dtype.kind in "biu"
    if exact:
        apart_by = np.abs(a.astype(np.int64) - b.astype(np.int64))
        if a.dtype == np.uint8 == b.dtype and apart_by.max() == 1:
            # A pixel that was rounded the other way.
            return Verdict(What.PRECISION, float((apart_by > 0).mean()), place)
        wrong = apart_by > 0
        return Verdict(what, float(wrong.mean()), place) if wrong.any() else Verdict(What.NOTHING)
    wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    x, y = a.astype(wide), b.astype(wide)
    finite = np.isfinite(x)
    if not np.array_equal(finite, np.isfinite(y)):
        return Verdict(what, float("inf"), place)
    if what is not What.GRADIENT and not _same_non_finite(x[~finite], y[~finite]):
        # A gradient that is not finite is of no use, whether it is NaN or Inf.
        return Verdict(what, float("inf"), place)
    if not finite.any():
        return Verdict(What.NOTHING)
    apart = float(np.abs(x[finite] - y[finite]).max())
    scale = float(np.abs(x[finite]).max())
    floor = _ROUNDINGS * _eps(a, b) * max(scale, 1e-30) + _ROUNDINGS_OF_INPUTS * _eps(a, b) * min(inputs, _MODERATE)
    if reference is not None:
        z = reference.astype(wide)
        both = finite & np.isfinite(z)
        if both.any():
            floor += _TIMES_OWN_ERROR * float(np.abs(x[both] - z[both]).max())
    if apart <= floor:
        return Verdict(What.NOTHING)
    distance = apart / max(scale, 1e-30)
    return Verdict(what, distance, place, small=apart < COARSE * max(scale, 1.0))


def _eps(a: Array, b: Array) -> float:
    """The coarser rounding unit of the two."""
    units = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24, "float64": 2**-53, "complex64": 2**-24}
    return max(units.get(a.dtype.name, 2**-24), units.get(b.dtype.name, 2**-24))


def _same_non_finite(a: Array, b: Array) -> bool:
    return bool(np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(a[~np.isnan(a)], b[~np.isnan(b)]))


def _gradients(ours: Mapping[str, Array], theirs: Mapping[str, Array], own: Mapping[str, Array] | None) -> Verdict:
    """Gradients by argument; one that a framework leaves out is all zeros there."""
    largest = max((float(np.abs(g[np.isfinite(g)]).max(initial=0.0)) for g in ours.values() if g.size), default=0.0)
    for place, name in enumerate(sorted({*ours, *theirs})):
        if ":" in name and not (name in ours and name in theirs):
            # A tensor of a layer that only one framework keeps.
            continue
        like = ours.get(name, theirs.get(name))
        assert like is not None
        a, b = ours.get(name, np.zeros_like(like)), theirs.get(name, np.zeros_like(like))
        a, b = a.squeeze(), b.squeeze()
        if a.shape != b.shape:
            return Verdict(What.GRADIENT, float("inf"), place)
        reference = own[name].squeeze() if own is not None and name in own else None
        found = _values(a, b, reference, What.GRADIENT, place)
        if found.what is not What.NOTHING:
            # A gradient that is zero but for rounding is judged by the largest one.
            scale = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
            if not np.isfinite(found.distance) or found.distance * scale > _ROUNDINGS * _eps(a, b) * largest:
                return found
    return Verdict(What.NOTHING)


def _largest_gap(a: Array, b: Array) -> float:
    """How far apart two distributions are: the largest gap between the shares of numbers below any number."""
    points = np.concatenate([a, b])
    below = [np.searchsorted(np.sort(sample), points, side="right") / sample.size for sample in (a, b)]
    return float(np.abs(below[0] - below[1]).max())


def _statistics(ours: Sequence[Array], theirs: Sequence[Array]) -> Verdict:
    """Statistics of what was drawn by chance: alike within what thousands of numbers leave open."""
    if len(ours) != len(theirs):
        return Verdict(What.SHAPE, float("inf"))
    largest = max((float(np.abs(a).max(initial=0.0)) for a in ours), default=0.0)
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.shape != b.shape:
            return Verdict(What.SHAPE, float("inf"), place)
        allowed = 0.12 * np.maximum(np.abs(a), np.abs(b)) + 0.05 * largest
        if not (np.abs(a - b) <= allowed).all():
            return Verdict(What.VALUES, float(np.abs(a - b).max()) / max(largest, 1e-30), place)
    return Verdict(What.NOTHING)


def _near(a: Array, b: Array, limit: float) -> bool:
    if a.shape != b.shape:
        return False
    if a.size == 0 or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    wide = a.dtype if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    finite = np.isfinite(x)
    if not np.array_equal(finite, np.isfinite(y)):
        return False
    scale = float(np.abs(x[finite]).max(initial=0.0))
    return float(np.abs(x[finite] - y[finite]).max(initial=0.0)) <= limit * max(scale, 1e-30)


def _formed(ours: Sequence[Array], theirs: Sequence[Array]) -> Verdict:
    if [a.shape for a in ours] != [b.shape for b in theirs]:
        return Verdict(What.SHAPE, float("inf"))
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.dtype != b.dtype:
            return _of_types(a, b, place)
    return Verdict(What.NOTHING)


def _of_types(a: Array, b: Array, place: int) -> Verdict:
    kinds = [array.dtype.kind.replace("u", "i") for array in (a, b)]
    return Verdict(What.WIDTH if kinds[0] == kinds[1] else What.DTYPE, 0.0, place)


def _random(ours: Sequence[Array], theirs: Sequence[Array]) -> Verdict:
    """Two draws from what should be one distribution: shape, type, and how numbers are distributed."""
    if len(ours) != len(theirs):
        return Verdict(What.SHAPE, float("inf"))
    dtype: Verdict | None = None
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.shape != b.shape:
            return Verdict(What.SHAPE, float("inf"), place)
        if a.dtype != b.dtype and dtype is None:
            dtype = _of_types(a, b, place)
        if a.size < 1000 or a.dtype.kind not in "biuf":
            continue
        apart = _largest_gap(a.astype(np.float64).ravel(), b.astype(np.float64).ravel())
        if apart > _CHANCE * (2.0 / a.size) ** 0.5:
            return Verdict(What.VALUES, apart, place)
    return dtype or Verdict(What.NOTHING)
