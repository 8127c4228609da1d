"""What an operator does to the values of a sample that none should: whole numbers that wrap, ranges that are no more.

Seen on the first samples, the values before and after side by side.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from trueline.data.pipeline.child.fields import Array, Reader

Wide = npt.NDArray[np.float64]
Told = tuple[str, dict[str, Any]]

_SAMPLES: Final = 8
_LEAST: Final = 16
_LEVELS: Final = 256
_RAW: Final = 20.0
_CHANNELS: Final = (1, 3, 4)
_FIT: Final = 1e-3


class Changes:
    """What one operator did to the first samples."""

    def __init__(self) -> None:
        self._looked = 0
        self._found: dict[str, tuple[int, dict[str, Any]]] = {}

    def before(self, reader: Reader, given: Any) -> list[Array] | None:
        """The arrays that an operator is given, kept for a while."""
        if self._looked >= _SAMPLES:
            return None
        return reader.arrays(given, copy=True)

    def after(self, reader: Reader, sample: int, before: list[Array] | None, result: Any) -> None:
        """What has become of them."""
        if not before:
            return
        self._looked += 1
        for old, new in zip(before, reader.arrays(result), strict=False):
            for kind, numbers in _between(old, new):
                self._found.setdefault(kind, (sample, numbers))

    def told(self) -> list[dict[str, Any]]:
        """The JSON of evidence.Changes."""
        return [{"kind": kind, "sample": at, "numbers": numbers} for kind, (at, numbers) in self._found.items()]


def _between(old: Array, new: Array) -> list[Told]:
    if min(old.size, new.size) < _LEAST or old.dtype.kind not in "iuf" or new.dtype.kind not in "iuf":
        return []
    if new.dtype == np.uint8 and old.shape == new.shape and (wrapped := _wrapped(old, new)):
        return [wrapped]
    if new.dtype.kind == "f":
        return _scaled(old, new)
    return []


def _wrapped(old: Array, new: Array) -> Told | None:
    """Whole numbers of 8 bits that went below 0 or above 255 and came out at the other end."""
    if old.dtype == np.uint8:
        share = _jumps(old, new)
    elif old.dtype.kind == "f":
        share = max(_cast(old, new, factor) for factor in (1.0, 255.0, 256.0))
    else:
        share = _cast(old, new, 1.0)
    return ("wrapped", {"share": share}) if share > 0.0 else None


def _cast(old: Array, new: Array, factor: float) -> float:
    """The share of values outside of what 8 bits hold that were cut down to their last 8 bits."""
    scaled = old.astype(np.float64) * factor
    outside = (scaled <= -1.0) | (scaled >= _LEVELS)
    if not outside.any() or not np.isfinite(scaled).all():
        return 0.0
    cut = np.trunc(scaled).astype(np.int64) & (_LEVELS - 1)
    inside_fits = bool((np.abs(cut[~outside] - new[~outside].astype(np.int64)) <= 1).all())
    same = np.abs(cut[outside] - new[outside].astype(np.int64)) <= 1
    # Clipped values would be 0 or 255.
    clipped = np.isin(new[outside], (0, 255))
    return float(outside.mean()) if inside_fits and same.mean() > 0.9 and clipped.mean() < 0.9 else 0.0


def _jumps(old: Array, new: Array) -> float:
    """The share of values that went over the edge, where what is done to a value can be seen from value to value."""
    here, there = old.reshape(-1).astype(np.int64), new.reshape(-1).astype(np.int64)
    off = there - here
    if not off.any():
        return 0.0
    values = np.unique(here)
    if len(values) < _LEAST:
        return 0.0
    means = np.array([there[here == value].mean() for value in values])
    spreads = np.array([np.ptp(there[here == value]) for value in values])
    gaps, steps = np.diff(values), np.diff(means)
    if float(np.median(spreads)) <= 2.0 and float((spreads <= 2).mean()) > 0.9:
        slope = float(np.median(steps / gaps))
        if abs(slope) < 0.2:
            return 0.0
        over = np.abs(steps - (slope * gaps - np.sign(slope) * _LEVELS)) < 32
        return float(over.sum()) / len(values) if over.any() and over.sum() < len(values) / 2 else 0.0
    # Something random was added: taken around the circle of 256 values it is small, as it stands it is not.
    around = (off + _LEVELS // 2) % _LEVELS - _LEVELS // 2
    far = np.abs(off) > 160
    if far.any() and float(np.abs(around).max()) < 96 and float(far.mean()) < 0.5:
        return float(far.mean())
    return 0.0


def _scaled(old: Array, new: Array) -> list[Told]:
    """Values that are scaled once more, or normalised by numbers that are meant for another range."""
    fitted = _affine(old.astype(np.float64), new.astype(np.float64))
    if fitted is None:
        return []
    factors, offsets = fitted
    largest = float(np.abs(old).max())
    means, stds = [-b / a for a, b in zip(factors, offsets, strict=True)], [1.0 / a for a in factors]
    numbers = {"mean": means, "std": stds, "low": float(old.min()), "high": float(old.max())}
    shifted = any(abs(one) > 1e-6 for one in offsets)
    if not shifted and all(1 / 300 < a < 1 / 200 for a in factors) and 0.0 < largest <= 1.5:
        return [("scaled_again", numbers)]
    if not shifted:
        return []
    small = all(-1.0 <= m <= 1.0 and 0.01 < s <= 1.0 for m, s in zip(means, stds, strict=True))
    if small and largest > _RAW:
        return [("normalised_unscaled", numbers)]
    big = all(m > _RAW and s > 5.0 for m, s in zip(means, stds, strict=True))
    if big and largest <= 1.5:
        return [("normalised_scaled", numbers)]
    return []


def _affine(old: Wide, new: Wide) -> tuple[list[float], list[float]] | None:
    """A factor and an offset for each channel; the layout may change with it."""
    for axis, other in ((None, None), (0, 0), (2, 2), (2, 0), (0, 2)):
        here, there = _channels(old, axis), _channels(new, other)
        if here is None or there is None or here.shape != there.shape:
            continue
        found = [_line(a, b) for a, b in zip(here, there, strict=True)]
        if all(one is not None for one in found):
            return [one[0] for one in found if one is not None], [one[1] for one in found if one is not None]
    return None


def _channels(array: Wide, axis: int | None) -> Wide | None:
    if axis is None:
        return array.reshape(1, -1)
    if array.ndim != 3 or array.shape[axis] not in _CHANNELS:
        return None
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)


def _line(old: Wide, new: Wide) -> tuple[float, float] | None:
    spread = float(old.std())
    if spread == 0.0 or not (np.isfinite(old).all() and np.isfinite(new).all()):
        return None
    centred = old - old.mean()
    factor = float((centred * (new - new.mean())).sum() / np.square(centred).sum())
    offset = float(new.mean() - factor * old.mean())
    scale = float(np.abs(new - new.mean()).max())
    if factor <= 0.0 or scale == 0.0 or float(np.abs(factor * old + offset - new).max()) > _FIT * scale:
        return None
    return factor, offset
