"""What an operator that only moves elements may be: another order of axes, a slice, a shift, padding, resizing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, permutations, product
from typing import Final, Literal

import numpy as np

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.pair.ops.forms import Form
from trueline.pair.ops.same_values import Floats, alike, equal, floats

_MOST_AXES: Final = 6
_MOST_TRIES: Final = 1500
_CUBIC: Final = -0.75


def moved(given: Array, made: Array, floor: float, kind: str = "") -> Form | None:
    """The form that makes one value from another by moving elements alone; what ``kind`` says is tried first."""
    if given.size == made.size:
        if not given.size or not alike(given, made, floor):
            return None
        forms: Iterator[Form] = chain(_rolls(given, made) if kind == "roll" else (), _same_size(given, made))
    elif given.size > made.size:
        forms = _slices(given, made)
    else:
        forms = chain(_repeated(given, made), _padded(given, made))
    for form in forms:
        if equal(form.apply(given), made, floor):
            return form
    return _resized(given, made, floor) if not kind or kind.startswith("resize") else None


def _same_size(given: Array, made: Array) -> Iterator[Form]:
    yield Form("same", "identity", lambda value: value)
    for order in _orders(given.ndim):
        yield Form("transpose", "layout", _transposed(order), {"order": order})
    for order in _orders(made.ndim):
        yield Form("reshape_transpose", "layout", _reshaped_transposed(made.shape, order), {"order": order})
    for axis in range(given.ndim):
        if given.shape[axis] > 1:
            yield Form("flip", "flip", _flipped(axis), {"axis": axis - given.ndim})
    for axis, parts in _parts(given.shape):
        yield Form("shuffle", "layout", _shuffled(axis, parts), {"axis": axis - given.ndim, "groups": parts})
    for axis, parts in _parts(given.shape, most=4):
        for order in permutations(range(parts)):
            if order != tuple(range(parts)):
                settings: dict[str, Json] = {"axis": axis - given.ndim, "order": order}
                yield Form("parts", "concat", _parts_reordered(axis, parts, order), settings)
    yield from _rolls(given, made)


def _orders(axes: int) -> Iterator[tuple[int, ...]]:
    if 2 <= axes <= _MOST_AXES:
        for order in permutations(range(axes)):
            if order != tuple(range(axes)):
                yield order


def _transposed(order: tuple[int, ...]) -> Callable[[Array], Array]:
    return lambda value: value.transpose(order)


def _reshaped_transposed(shape: tuple[int, ...], order: tuple[int, ...]) -> Callable[[Array], Array]:
    before = tuple(shape[order.index(axis)] for axis in range(len(shape)))
    return lambda value: value.reshape(before).transpose(order)


def _flipped(axis: int) -> Callable[[Array], Array]:
    return lambda value: np.flip(value, axis)


def _parts(shape: tuple[int, ...], most: int = 64) -> Iterator[tuple[int, int]]:
    for axis, size in enumerate(shape):
        for parts in range(2, min(size, most) + 1):
            if size % parts == 0 and (parts < size or most < size):
                yield axis, parts


def _shuffled(axis: int, parts: int) -> Callable[[Array], Array]:
    def apply(value: Array) -> Array:
        shape = value.shape
        split = value.reshape(*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :])
        return np.swapaxes(split, axis, axis + 1)

    return apply


def _parts_reordered(axis: int, parts: int, order: tuple[int, ...]) -> Callable[[Array], Array]:
    def apply(value: Array) -> Array:
        split = np.split(value, parts, axis)
        return np.concatenate([split[place] for place in order], axis)

    return apply


def rotated(given: Array, made: Array, floor: float) -> Form | None:
    """The last axis in halves, or in pairs of neighbours, put together again with other signs: as rotary embeddings do.

    Without another sign it is a plain move.
    """
    if given.size != made.size or not given.ndim or given.shape[-1] % 2 or given.shape[-1] < 4:
        return None
    wanted = made.reshape(given.shape)
    for halves, order, signs in product((True, False), ((1, 0), (0, 1)), ((-1, 1), (1, -1), (1, 1))):
        if order == (0, 1) and signs == (1, 1):
            continue
        apply = _rotation(halves, order, signs)
        if equal(apply(given), wanted, floor):
            if signs == (1, 1) and halves:
                return Form("parts", "concat", apply, {"axis": -1, "order": order})
            parts = ", ".join(
                f"{'-' if sign < 0 else ''}x{place + 1}" for place, sign in zip(order, signs, strict=True)
            )
            return Form("halves" if halves else "pairs", "rotation", apply, {"parts": parts})
    return None


def _rotation(halves: bool, order: tuple[int, int], signs: tuple[int, int]) -> Callable[[Array], Array]:
    def apply(value: Array) -> Array:
        found, width = floats(value), value.shape[-1] // 2
        parts = (found[..., :width], found[..., width:]) if halves else (found[..., ::2], found[..., 1::2])
        first, second = (sign * parts[place] for place, sign in zip(order, signs, strict=True))
        together: Array = np.concatenate([first, second], -1) if halves else np.stack([first, second], -1)
        return together.reshape(value.shape)

    return apply


def _rolls(given: Array, made: Array) -> Iterator[Form]:
    """Shifts along one axis or two, found where the first element has gone."""
    if given.shape != made.shape or given.ndim < 1 or not given.size:
        return
    where = np.unravel_index(np.argmin(np.abs(floats(made) - floats(given).flat[0])), made.shape)
    shifts = tuple(int(signedinteger) for signedinteger in where)
    moved_axes = tuple(axis for axis, shift in enumerate(shifts) if shift)
    if 1 <= len(moved_axes) <= 2:
        by = tuple(shifts[axis] for axis in moved_axes)
        settings = {"axes": tuple(axis - given.ndim for axis in moved_axes), "by": by}
        yield Form("roll", "roll", lambda value: np.roll(value, by, moved_axes), settings)


def _slices(given: Array, made: Array) -> Iterator[Form]:
    """One stretch of one axis, every second of one axis, or the middle of several."""
    for axis, size in enumerate(given.shape):
        rest = given.size // size if size else 0
        if not rest or made.size % rest:
            continue
        count = made.size // rest
        for start in range(size - count + 1):
            yield _slice(given.ndim, {axis: slice(start, start + count)}, axis, start, count)
        step = math.ceil(size / count)
        if step > 1 and len(range(0, size, step)) == count:
            yield _slice(given.ndim, {axis: slice(None, None, step)}, axis, 0, count, step)
    if given.ndim == made.ndim:
        for starts in _offsets(given.shape, made.shape):
            cut = {axis: slice(start, start + made.shape[axis]) for axis, start in enumerate(starts)}
            yield _crop(given.shape, cut)


def _slice(axes: int, cut: dict[int, slice], axis: int, start: int, count: int, step: int = 1) -> Form:
    where = tuple(cut.get(place, slice(None)) for place in range(axes))
    settings: dict[str, Json] = {"axis": axis - axes, "start": start, "stop": start + count * step}
    if step > 1:
        settings["step"] = step
    return Form("slice", "slice", lambda value: value[where], settings)


def _crop(shape: tuple[int, ...], cut: dict[int, slice]) -> Form:
    """Stretches of several axes."""
    where = tuple(cut[place] for place in range(len(shape)))
    parts = [
        f"{axis - len(shape)}: {one.start}:{one.stop}"
        for axis, one in cut.items()
        if one.stop - one.start < shape[axis]
    ]
    return Form("crop", "slice", lambda value: value[where], {"cuts": ", ".join(parts)})


def _offsets(larger: tuple[int, ...], smaller: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    room = [there - here + 1 for here, there in zip(smaller, larger, strict=True)]
    if min(room) >= 1 and math.prod(room) <= _MOST_TRIES:
        yield from product(*(range(size) for size in room))


def _repeated(given: Array, made: Array) -> Iterator[Form]:
    """One axis that is repeated: each of its elements by itself, or all of them one after another."""
    if given.ndim != made.ndim:
        return
    longer = [axis for axis in range(given.ndim) if made.shape[axis] != given.shape[axis]]
    if len(longer) != 1 or made.shape[longer[0]] % given.shape[longer[0]]:
        return
    axis = longer[0]
    times = made.shape[axis] // given.shape[axis]
    settings: dict[str, Json] = {"axis": axis - given.ndim, "times": times}
    yield Form("repeat", "repeat", lambda value: np.repeat(value, times, axis), settings)
    yield Form("tile", "repeat", lambda value: np.concatenate([value] * times, axis), settings)


def _padded(given: Array, made: Array) -> Iterator[Form]:
    if given.ndim != made.ndim:
        return
    for starts in _offsets(made.shape, given.shape):
        ends = (made.shape[i] - given.shape[i] - start for i, start in enumerate(starts))
        widths = tuple(zip(starts, ends, strict=True))
        for mode in ("constant", "edge", "reflect"):
            if mode == "reflect" and any(max(width) >= size for width, size in zip(widths, given.shape, strict=True)):
                continue
            yield Form("pad", "pad", _pad(widths, mode), {"widths": [list(width) for width in widths], "mode": mode})


def _pad(widths: tuple[tuple[int, int], ...], mode: Literal["constant", "edge", "reflect"]) -> Callable[[Array], Array]:
    return lambda value: np.pad(floats(value), widths, mode=mode)


def _resized(given: Array, made: Array, floor: float) -> Form | None:
    """Interpolation over the last two axes (the last alone where there are three)."""
    if given.ndim != made.ndim or given.ndim not in (3, 4) or given.shape[:2] != made.shape[:2]:
        return None
    if given.shape == made.shape:
        return None
    for mode, corners in (("nearest", False), ("linear", False), ("linear", True), ("cubic", False), ("cubic", True)):
        apply = _resize(given.shape[2:], made.shape[2:], mode, corners)
        if equal(apply(given), made, floor):
            return Form("interpolate", "resize", apply, {"mode": mode, "align_corners": corners})
    return None


def _resize(before: tuple[int, ...], after: tuple[int, ...], mode: str, corners: bool) -> Callable[[Array], Array]:
    matrices = [_matrix(here, there, mode, corners) for here, there in zip(before, after, strict=True)]

    def apply(value: Array) -> Array:
        found = floats(value)
        for axis, matrix in enumerate(matrices, start=2):
            found = np.moveaxis(np.tensordot(matrix, found, (1, axis)), 0, axis)
        return found

    return apply


def _matrix(before: int, after: int, mode: str, corners: bool) -> Floats:
    if mode == "nearest":
        source = np.floor(np.arange(after) * (before / after))
    elif corners:
        source = np.arange(after) * ((before - 1) / max(after - 1, 1))
    else:
        source = (np.arange(after) + 0.5) * (before / after) - 0.5
        source = np.maximum(source, 0.0) if mode == "linear" else source
    first = np.floor(source)
    part = source - first
    taps = {0: 1 - part, 1: part} if mode != "cubic" else {at: _cubic(part - at) for at in (-1, 0, 1, 2)}
    matrix = np.zeros((after, before))
    for at, weight in taps.items():
        columns = np.clip(first + at, 0, before - 1).astype(int)
        np.add.at(matrix, (np.arange(after), columns), weight)
    return matrix


def _cubic(distance: Floats) -> Floats:
    x = np.abs(distance)
    near = (_CUBIC + 2) * x**3 - (_CUBIC + 3) * x**2 + 1
    far = _CUBIC * (x**3 - 5 * x**2 + 8 * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))
