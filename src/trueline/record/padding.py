"""How long one value stands at the ends of sequences of whole numbers: what fills them up to one length."""

from __future__ import annotations

import numpy as np

from trueline.kernel.array import Array
from trueline.model.sample import Ends


def ends_of(array: Array) -> Ends | None:
    """Of sequences of whole numbers: the value that most of them end with, and how long it does so on either side."""
    if array.dtype.kind not in "iub" or array.ndim != 2 or array.shape[1] < 3 or not len(array):
        return None
    value = _filling(array)
    if value is None:
        return None
    filled = array == value
    whole = filled.all(1)
    left = np.where(whole, 0, np.argmin(filled, 1))
    right = np.where(whole, array.shape[1], np.argmin(filled[:, ::-1], 1))
    inside = int(filled.sum() - left.sum() - right.sum())
    return Ends(value, left.tolist(), right.tolist(), inside)


def _filling(array: Array) -> int | None:
    """The value that stands twice at an end of most sequences, of those that do so at all."""
    ends = np.concatenate([array[array[:, 0] == array[:, 1], 0], array[array[:, -1] == array[:, -2], -1]])
    if not len(ends):
        return None
    found, counts = np.unique(ends, return_counts=True)
    return int(found[int(np.argmax(counts))])
