"""What brings one array onto another: another layout, channels the other way round, a scale, a shift, a mirror."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array
from trueline.pair.blame import Cause, Setting

Wide = npt.NDArray[np.float64]

_EXACT: Final = 2e-5
_CHANNELS: Final = (1, 3, 4)
_MOST_AXES: Final = 4
_PATCH: Final = 8
# A relation that holds for every pixel of so many samples is no accident.
_SAMPLES: Final = 3
_LEVELS: Final = 255.0
# What two resizing or rounding codes may differ by, in steps of the raw values, per element and on average.
_MOST_STEPS: Final = 1.6
_MEAN_STEPS: Final = 0.6


@dataclass(frozen=True, slots=True)
class Relation:
    """One thing that, undone, brings the port's data nearer to the benchmark's."""

    cause: Cause
    bench: Setting = None
    port: Setting = None


@dataclass(frozen=True, slots=True)
class Related:
    """All that is needed to bring the port's arrays onto the benchmark's, and how far apart they are then."""

    relations: tuple[Relation, ...]
    left: float


def apart(port: Sequence[Array], bench: Sequence[Array]) -> float:
    """How far apart the furthest pair is, relative to the benchmark's largest value; inf for other shapes."""
    levels = [0.0]
    for here, there in zip(port, bench, strict=True):
        if here.shape != there.shape or (both := _both_finite(here, there)) is None:
            return np.inf
        scale = float(np.abs(both[1]).max(initial=0.0))
        far = float(np.abs(both[0] - both[1]).max(initial=0.0))
        levels.append(far / scale if scale else far)
    return max(levels)


def alike(port: Sequence[Array], bench: Sequence[Array]) -> bool:
    """Equal but for rounding, be it of floats or of the raw values' whole steps."""
    return all(
        a.shape == b.shape and (both := _both_finite(a, b)) is not None and _near(*both)
        for a, b in zip(port, bench, strict=True)
    )


def _both_finite(port: Array, bench: Array) -> tuple[Wide, Wide] | None:
    """Both with zeros where both have the same NaN or Inf; None where they have them at other places."""
    here, there = port.astype(np.float64), bench.astype(np.float64)
    if np.isfinite(here).all() and np.isfinite(there).all():
        return here, there
    odd = ~np.isfinite(there)
    if not np.array_equal(odd, ~np.isfinite(here)) or not np.array_equal(here[odd], there[odd], equal_nan=True):
        return None
    return np.where(odd, 0.0, here), np.where(odd, 0.0, there)


def _near(found: Wide, wanted: Wide) -> bool:
    if not wanted.size:
        return True
    off = found - wanted
    furthest = float(np.abs(off).max())
    if furthest <= _EXACT * float(np.abs(wanted).max()):
        return True
    if wanted.ndim < 2:
        return False
    step = float(wanted.max() - wanted.min()) / _LEVELS
    return furthest <= _MOST_STEPS * step and abs(float(off.mean())) <= _MEAN_STEPS * step


def relate(port: Sequence[Array], bench: Sequence[Array], *, geometry: bool = True) -> Related | None:
    """The fewest relations that bring the first pairs together; None where none of these do.

    Without ``geometry`` neither mirrors nor other crops are looked for.
    """
    wide = [[array.astype(np.float64) for array in side[:_SAMPLES]] for side in (port, bench)]
    if not all(np.isfinite(array).all() for side in wide for array in side):
        return None
    found: list[Related] = []
    for order, moved in _layouts(*wide):
        for mirror, turned in _mirrors(moved) if geometry else [((), moved)]:
            for swapped, channels in _channels(turned):
                before = (*order, *mirror, *swapped)
                for more in _values(channels, wide[1], geometry):
                    found.append(Related((*before, *more.relations), more.left))
    return min(found, key=lambda related: (len(related.relations), related.left), default=None)


def _layouts(port: list[Wide], bench: list[Wide]) -> Iterator[tuple[tuple[Relation, ...], list[Wide]]]:
    shape, wanted = port[0].shape, bench[0].shape
    if len(shape) == len(wanted):
        yield (), port
    if len(shape) != len(wanted) or not 2 <= len(shape) <= _MOST_AXES:
        return
    for axes in permutations(range(len(shape))):
        if axes != tuple(range(len(shape))) and tuple(shape[axis] for axis in axes) == wanted:
            relation = Relation(Cause.DATA_LAYOUT, _sizes(wanted), _sizes(shape))
            yield (relation,), [array.transpose(axes) for array in port]


def _sizes(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _mirrors(arrays: list[Wide]) -> Iterator[tuple[tuple[Relation, ...], list[Wide]]]:
    yield (), arrays
    axis = channel_axis(arrays[0].shape)
    if arrays[0].ndim != 3 or axis is None:
        return
    for side in (one for one in range(3) if one != axis):
        yield (Relation(Cause.DATA, "-", "mirrored"),), [np.flip(array, side) for array in arrays]


def _channels(arrays: list[Wide]) -> Iterator[tuple[tuple[Relation, ...], list[Wide]]]:
    yield (), arrays
    axis = channel_axis(arrays[0].shape)
    if axis is not None and arrays[0].shape[axis] == 3:
        yield (Relation(Cause.CHANNEL_ORDER, "RGB", "BGR"),), [np.flip(array, axis) for array in arrays]


def channel_axis(shape: Sequence[int]) -> int | None:
    """Where an image's channels lie."""
    if len(shape) != 3:
        return None
    return next((axis for axis in (0, 2) if shape[axis] in _CHANNELS), None)


def _values(port: list[Wide], bench: list[Wide], geometry: bool) -> Iterator[Related]:
    same = all(a.shape == b.shape for a, b in zip(port, bench, strict=True))
    if same:
        if alike(port, bench):
            yield Related((), apart(port, bench))
            return
        found = _affine(port, bench)
        if found is not None:
            yield found
            return
    if geometry:
        yield from _shifted(port, bench)


def _affine(port: list[Wide], bench: list[Wide]) -> Related | None:
    """A factor and an offset for each channel."""
    axis = channel_axis(bench[0].shape)
    if axis is not None and any(array.ndim != 3 for array in bench):
        axis = None
    count = bench[0].shape[axis] if axis is not None else 1
    here, there = (_by_channel(side, axis, count) for side in (port, bench))
    factors: list[float] = []
    offsets: list[float] = []
    fitted: list[Wide] = []
    for a, b in zip(here, there, strict=True):
        if float(a.std()) == 0.0:
            return None
        # One scale and offset for all pixels of a channel.
        factor, offset = np.polyfit(a, b, 1)
        factors.append(float(factor))
        offsets.append(float(offset))
        fitted.append(factor * a + offset)
    if not all(_near(a.reshape(1, -1), b.reshape(1, -1)) for a, b in zip(fitted, there, strict=True)):
        return None
    left = apart(fitted, there)
    for whole in (_LEVELS, 1 / _LEVELS):
        if np.allclose(factors, whole, rtol=5e-3):
            return Related((Relation(Cause.FACTOR_255, "1", f"{1 / whole:.4g}"),), left)
    scale = max(abs(one) for one in there[0])
    clean = [0.0 if abs(number) < _EXACT * scale else number for number in offsets]
    shown = [", ".join(f"{number:.4g}" for number in side) for side in (factors, clean)]
    return Related((Relation(Cause.MEAN_STD, f"x ({shown[0]}) + ({shown[1]})", "x"),), left)


def _by_channel(arrays: list[Wide], axis: int | None, count: int) -> list[Wide]:
    if axis is None:
        return [np.concatenate([array.reshape(-1) for array in arrays])]
    moved = [np.moveaxis(array, axis, 0).reshape(count, -1) for array in arrays]
    return list(np.concatenate(moved, axis=1))


def _shifted(port: list[Wide], bench: list[Wide]) -> Iterator[Related]:
    """A crop taken elsewhere: a patch of the port's image found again in the benchmark's, values scaled or not."""
    axis = channel_axis(bench[0].shape)
    if axis is None or port[0].ndim != 3 or channel_axis(port[0].shape) != axis:
        return
    here = [np.moveaxis(array, axis, -1) for array in port]
    there = [np.moveaxis(array, axis, -1) for array in bench]
    offset = _offset(here[0], there[0])
    if offset is None:
        return
    overlaps = [_overlap(a, b, offset) for a, b in zip(here, there, strict=True)]
    if any(overlap is None for overlap in overlaps):
        return
    cut = [np.moveaxis(overlap[0], -1, axis) for overlap in overlaps if overlap is not None]
    wanted = [np.moveaxis(overlap[1], -1, axis) for overlap in overlaps if overlap is not None]
    crop = Relation(Cause.CROP, "0, 0", f"{offset[0]:+d}, {offset[1]:+d}")
    if alike(cut, wanted):
        yield Related((crop,), apart(cut, wanted))
        return
    values = _affine(cut, wanted)
    if values is not None:
        yield Related((crop, *values.relations), values.left)


def _offset(port: Wide, bench: Wide) -> tuple[int, int] | None:
    """By how many rows and columns the port's image begins later than the benchmark's."""
    if min(*port.shape[:2], *bench.shape[:2]) < 2 * _PATCH:
        return None
    top, left = (port.shape[0] - _PATCH) // 2, (port.shape[1] - _PATCH) // 2
    patch = _standard(port[top : top + _PATCH, left : left + _PATCH, 0].reshape(1, -1))
    windows = np.lib.stride_tricks.sliding_window_view(bench[..., 0], (_PATCH, _PATCH))
    rows, columns = windows.shape[:2]
    flat = _standard(windows.reshape(rows * columns, -1))
    best = int(np.argmax(flat @ patch[0]))
    row, column = divmod(best, columns)
    offset = (row - top, column - left)
    return offset if offset != (0, 0) or port.shape != bench.shape else None


def _standard(rows: Wide) -> Wide:
    centred = rows - rows.mean(1, keepdims=True)
    found: Wide = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    return found


def _overlap(port: Wide, bench: Wide, offset: tuple[int, int]) -> tuple[Wide, Wide] | None:
    parts: list[tuple[slice, slice]] = []
    for place in (0, 1):
        begin = max(0, -offset[place])
        end = min(port.shape[place], bench.shape[place] - offset[place])
        if end - begin < _PATCH:
            return None
        parts.append((slice(begin, end), slice(begin + offset[place], end + offset[place])))
    return port[parts[0][0], parts[1][0]], bench[parts[0][1], parts[1][1]]
