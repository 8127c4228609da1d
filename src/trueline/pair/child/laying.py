"""The same values in another shape: what is a convolution on one side may be a linear layer on the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.kernel.array import Array

# A number, channels, and at least one axis more.
_CHANNEL_AXES: Final = 3


def laid_as(array: Array, shape: Sequence[int]) -> Array:
    """An array in a shape that holds the same: without axes of one element, or with the channels last, or first.

    A 1x1 convolution is a linear layer, on (n, c, 1, 1), on (n, h, w, c) and on (n, h * w, c). What a network gives
    out keeps its own shape: there a caller sees the difference.
    """
    wanted = tuple(shape)
    if array.shape == wanted:
        return array
    if [size for size in array.shape if size != 1] == [size for size in wanted if size != 1]:
        return array.reshape(wanted)
    if array.ndim < _CHANNEL_AXES:
        return array
    last = np.moveaxis(array, 1, -1)
    tokens = (last.shape[0], int(np.prod(last.shape[1:-1])), last.shape[-1])
    first = np.moveaxis(array, -1, 1)
    fitting = next((moved for moved in (last, first) if moved.shape == wanted), None)
    if fitting is None and wanted == tokens:
        fitting = last.reshape(tokens)
    return np.ascontiguousarray(fitting) if fitting is not None else array
