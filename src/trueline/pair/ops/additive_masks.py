"""Masks that are added to scores: nothing where they may be seen, a large negative number where not."""

from __future__ import annotations

from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.ops.same_values import MASKED

# That values are no mask, so many of them mostly show.
_GLANCE_SIZE: Final = 256


def is_mask(array: Array) -> bool:
    """Whether a value is zero at some places and a large negative number at all others."""
    glance = array.reshape(-1)[:: max(1, array.size // _GLANCE_SIZE)]
    if not array.size or array.dtype.kind != "f" or not _only_masks(glance):
        return False
    rest = array[array != 0]
    return 0 < rest.size < array.size and float(np.max(rest)) <= MASKED


def masked_alike(array: Array, reference: Array) -> bool:
    """Whether both mask the same places and no others, by whatever large negative number.

    A whole number will do: ``full`` of minus infinity makes whole numbers in MindSpore.
    """
    if array.shape != reference.shape or not is_mask(reference) or not _only_masks(array):
        return False
    return np.array_equal(array <= MASKED, reference <= MASKED)


def masked_otherwise(array: Array, reference: Array) -> bool:
    """Whether both are nothing but masks, of other places."""
    if array.size != reference.size or not is_mask(reference) or not _only_masks(array):
        return False
    return not np.array_equal(array.reshape(-1) <= MASKED, reference.reshape(-1) <= MASKED)


def _only_masks(array: Array) -> bool:
    """Whether there is nothing but zeros and large negative numbers."""
    return array.dtype.kind in "fi" and bool(((array == 0) | (array <= MASKED)).all())


def mask_in_words(array: Array, other: Array | None = None) -> Message:
    """Which places are masked, or true: how many, those from a diagonal on, or just those that the other leaves."""
    truths = array.dtype == np.bool_ or bool(((array == 0) | (array == 1)).all())
    if other is not None and truths and np.array_equal(array.reshape(-1) == 0, other.reshape(-1) != 0):
        return message("pair_explain.mask_inverted")
    masked = array != 0 if truths else array <= MASKED
    if masked.ndim > 1 and min(masked.shape[-2:]) > 1:
        first = masked.reshape(-1, *masked.shape[-2:])[0]
        diagonals = (
            d for d in range(1 - first.shape[0], first.shape[1]) if np.array_equal(first, np.triu(first | True, d))
        )
        diagonal = next(diagonals, None)
        if diagonal is not None and (masked == first).all():
            return message("pair_explain.mask_diagonal", diagonal=diagonal)
    if truths:
        return message("pair_explain.mask_true", count=int(masked.sum()), total=masked.size)
    return message("pair_explain.mask_share", count=int(masked.sum()), total=masked.size)
