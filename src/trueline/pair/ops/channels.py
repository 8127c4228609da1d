"""The same values with their channels elsewhere: what one network has in its second axis another has in the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

import numpy as np

from trueline.kernel.array import Array

# A number, channels, and at least one axis more.
_CHANNEL_AXES: Final = 3


def laid_as(array: Array, shape: Sequence[int]) -> Array:
    """An array in a shape that holds the same: without axes of one element, or with the channels last, or first.

    A 1x1 convolution is a linear layer, on (n, c, 1, 1), on (n, h, w, c), on (n, h * w, c) and on (n * h * w, c). What
    a network gives out keeps its own shape: there a caller sees the difference.
    """
    wanted = tuple(shape)
    if _in_order(array.shape, wanted):
        return array.reshape(wanted)
    fitting = next(_otherwise(array, wanted), None)
    return np.ascontiguousarray(fitting) if fitting is not None else array


def is_laid_as(array: Array, shape: Sequence[int]) -> bool:
    """Whether a shape holds the same in another order of elements."""
    wanted = tuple(shape)
    return not _in_order(array.shape, wanted) and next(_otherwise(array, wanted), None) is not None


def _in_order(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether both shapes hold the same elements in the same order: but for axes of one element, or places in one."""
    if [size for size in shape if size != 1] == [size for size in wanted if size != 1]:
        return True
    fewer, more = sorted((shape, wanted), key=len)
    return len(fewer) == 2 < len(more) and fewer[1] == more[-1] and prod(fewer) == prod(more)


def _otherwise(array: Array, wanted: tuple[int, ...]) -> Iterator[Array]:
    """Channels moved to the end or to the front, and all that counts places in one axis, or in as many as wanted."""
    if array.ndim >= _CHANNEL_AXES:
        last, first = np.moveaxis(array, 1, -1), np.moveaxis(array, -1, 1)
        yield from (moved for moved in (last, first) if moved.shape == wanted)
        if wanted in ((last.shape[0], prod(last.shape[1:-1]), last.shape[-1]), (prod(last.shape[:-1]), last.shape[-1])):
            yield last.reshape(wanted)
    if array.ndim == 2 and len(wanted) >= _CHANNEL_AXES and wanted[1] == array.shape[1] and prod(wanted) == array.size:
        yield np.moveaxis(array.reshape(wanted[0], *wanted[2:], wanted[1]), -1, 1)


def axes_in(shape: Sequence[int], wanted: Sequence[int], axes: Sequence[int]) -> tuple[int, ...] | None:
    """Axes of one shape, counted from the end, in another that has the channels elsewhere; None where it has not."""
    marks = np.arange(prod(shape)).reshape(tuple(shape))
    if not is_laid_as(marks, wanted):
        return None
    laid = laid_as(marks, wanted)
    found: list[int] = []
    for axis, size in enumerate(wanted):
        if size < 2:
            continue
        # How the place in the first shape moves along this axis tells which axes it holds.
        along = np.moveaxis(laid, axis, 0).reshape(size, -1)[:, 0]
        places = np.unravel_index(along, tuple(shape))
        moving = {at - len(shape) for at, place in enumerate(places) if len(set(place.tolist())) > 1}
        if moving & set(axes):
            if not moving <= set(axes):
                return None
            found.append(axis - len(wanted))
    return tuple(found)
