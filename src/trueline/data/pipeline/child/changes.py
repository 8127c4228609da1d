"""What an operator does to the values of a sample that none should: whole numbers that wrap, ranges that are no more.

Seen on the first samples, the values before and after side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.pipeline.answers import ChangeJson, Number
from trueline.data.pipeline.child.fields import Reader
from trueline.kernel.array import Array

Wide = npt.NDArray[np.float64]
Named = tuple[str, Mapping[str, Number]]

_SAMPLES: Final = 8
_MOST_SAMPLES: Final = 256
# Of fewer values no law can be read.
_MIN_VALUES: Final = 16
_LEVELS: Final = 256
_RAW: Final = 20.0
_CHANNELS: Final = (1, 3, 4)
_FIT: Final = 1e-3


class Changes:
    """What one operator did to the samples so far."""

    def __init__(self) -> None:
        self._looked = 0
        self._found: dict[str, tuple[int, Mapping[str, Number]]] = {}
        self._bytes = Bytes()

    def before(self, reader: Reader, given: object) -> list[Array] | None:
        """The arrays that an operator is given, kept for a while."""
        if self._looked >= _MOST_SAMPLES or given is None:
            return None
        return reader.arrays(given, copy=True)

    def after(self, reader: Reader, sample: int, before: list[Array] | None, given: object, result: object) -> None:
        """What has become of them."""
        if not before:
            return
        self._looked += 1
        for old, now in zip(before, reader.arrays(given), strict=False):
            if old.shape == now.shape and not np.array_equal(old, now, equal_nan=old.dtype.kind == "f"):
                self._found.setdefault("in_place", (sample, {}))
        for old, new in zip(before, reader.arrays(result), strict=False):
            if min(old.size, new.size) < _MIN_VALUES or old.dtype.kind not in "iuf" or new.dtype.kind not in "iuf":
                continue
            if new.dtype == np.uint8 and old.shape == new.shape:
                self._narrow(sample, old, new)
            elif new.dtype.kind == "f" and self._looked <= _SAMPLES:
                for kind, numbers in _scaled(old, new):
                    self._found.setdefault(kind, (sample, numbers))

    def shaped(self, sample: int, before: Array, after: list[Array]) -> None:
        """An image with its channels in front, where they are to come last."""
        shape = before.shape
        if len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in _CHANNELS and after:
            sizes = {"given": _sizes(before), "made": _sizes(after[0])}
            self._found.setdefault("layout", (sample, sizes))

    def _narrow(self, sample: int, old: Array, new: Array) -> None:
        """Whole numbers of 8 bits: those that went over an edge come out at the other end."""
        if old.dtype == np.uint8:
            self._bytes.see(sample, old, new)
            return
        factors = (1.0, 255.0, 256.0) if old.dtype.kind == "f" else (1.0,)
        if any(_cast(old, new, factor) for factor in factors):
            self._found.setdefault("wrapped", (sample, {}))

    def told(self) -> list[ChangeJson]:
        """The JSON of evidence.Changes."""
        found = dict(self._found)
        wrapped = self._bytes.wrapped()
        if wrapped is not None:
            found.setdefault("wrapped", (wrapped, {}))
        return [{"kind": kind, "sample": at, "numbers": numbers} for kind, (at, numbers) in found.items()]


def _sizes(array: Array) -> str:
    return "x".join(map(str, array.shape))


class Bytes:
    """What an operator makes of each of the 256 values of a byte, over all samples."""

    def __init__(self) -> None:
        self._counts = np.zeros(_LEVELS)
        self._sums = np.zeros(_LEVELS)
        self._squares = np.zeros(_LEVELS)
        self._first = np.full(_LEVELS, -1)
        self._noisy: int | None = None

    def see(self, sample: int, old: Array, new: Array) -> None:
        """One sample."""
        here, there = old.reshape(-1), new.reshape(-1).astype(np.float64)
        counts = np.bincount(here, minlength=_LEVELS)
        self._counts += counts
        self._sums += np.bincount(here, there, _LEVELS)
        self._squares += np.bincount(here, there * there, _LEVELS)
        self._first[(counts > 0) & (self._first < 0)] = sample
        if self._noisy is None and _around(here.astype(np.int64), there.astype(np.int64)):
            self._noisy = sample

    def wrapped(self) -> int | None:
        """The first sample with values that went over the edge."""
        values = np.flatnonzero(self._counts)
        if len(values) < _MIN_VALUES:
            return self._noisy
        means = self._sums[values] / self._counts[values]
        spreads = np.sqrt(np.maximum(0.0, self._squares[values] / self._counts[values] - means**2))
        if float((spreads <= 1.0).mean()) < 0.9:
            # Not every value comes out as one: something random was added, if not worse.
            return self._noisy
        gaps, steps = np.diff(values), np.diff(means)
        slope = float(np.median(steps / gaps))
        if abs(slope) < 0.2:
            return None
        over = np.abs(steps - (slope * gaps - np.sign(slope) * _LEVELS)) < 32
        if not over.any() or over.sum() >= len(values) / 2:
            return None
        edge = int(values[1:][over][0])
        # Fewer values go over the edge than stay.
        beyond = self._counts[edge:].sum() <= self._counts[:edge].sum()
        return int(min(self._first[value] for value in values if (value >= edge) == beyond))


def _around(here: Array, there: Array) -> bool:
    """Whether what was added is small around the circle of 256 values, and as it stands it is not."""
    off = there - here
    far = np.abs(off) > 160
    if not far.any() or float(far.mean()) >= 0.5:
        return False
    around = (off + _LEVELS // 2) % _LEVELS - _LEVELS // 2
    return bool(float(np.abs(around).max()) < 96)


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


def _scaled(old: Array, new: Array) -> list[Named]:
    """Values that are scaled once more, or normalised by numbers that are meant for another range."""
    fitted = _affine(old.astype(np.float64), new.astype(np.float64))
    if fitted is None:
        return []
    factors, offsets = fitted
    largest = float(np.abs(old).max())
    means, stds = [-b / a for a, b in zip(factors, offsets, strict=True)], [1.0 / a for a in factors]
    numbers: Mapping[str, Number] = {"mean": means, "std": stds, "low": float(old.min()), "high": float(old.max())}
    shifted = any(abs(offset) > 1e-6 for offset in offsets)
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
        if all(line is not None for line in found):
            return [line[0] for line in found if line is not None], [line[1] for line in found if line is not None]
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
