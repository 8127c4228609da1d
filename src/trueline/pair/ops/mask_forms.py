"""How a mask is written: truths, what is added to scores, ones and zeros, for each head and query or once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array
from trueline.pair.ops.additive_masks import is_mask
from trueline.pair.ops.same_values import MASKED, without_ones

Truths = npt.NDArray[np.bool_]

# That values are no truths, so many of them mostly show.
_GLANCE_SIZE: Final = 256


class Shown(StrEnum):
    """How two masks of the same places say so: both in a way that all read alike, or as whoever takes it has to know.

    What is true, or is added to scores, hides; ones, and truths turned round, may hide or show.
    """

    ALIKE = "alike"
    BY_USE = "by_use"


@dataclass(frozen=True, slots=True)
class Written:
    """The benchmark's mask as the port writes its own; ``sure``: whoever takes it reads the same."""

    mask: Array
    sure: bool


def hide_the_same(array: Array, reference: Array) -> Shown | None:
    """Whether two values are masks of the same places, whatever they write there; None for what is no mask.

    A mask may be repeated for each head, query or sample, or leave that to whoever takes it.
    """
    here, there = _hidden(array), _hidden(reference)
    if here is None or there is None or here.all() or not here.any():
        return None
    fewer, more = sorted((here, there), key=lambda mask: mask.size)
    for mask in _spread(fewer, more.shape):
        if np.array_equal(mask, more):
            return Shown.BY_USE if _are_ones(array) or _are_ones(reference) else Shown.ALIKE
        if np.array_equal(~mask, more):
            return Shown.BY_USE
    return None


def are_turned(array: Array, reference: Array) -> bool:
    """Whether both are ones and zeros, each where the other has not."""
    if array.size != reference.size or not (_are_ones(array) and _are_ones(reference)):
        return False
    return bool((array.reshape(-1) != reference.reshape(-1)).all())


def written_as(own: Array, reference: Array) -> Written | None:
    """The benchmark's mask in the form of the port's; None for what is no mask, and where both have one form.

    Whether ones hide or show is what makes both more alike.
    """
    alike = own.dtype.kind == reference.dtype.kind
    if alike and own.size == reference.size and own.dtype != np.bool_:
        return None
    here, there = _hidden(own), _hidden(reference)
    if here is None or there is None or min(own.size, reference.size) < 2:
        return None
    if alike and own.size == reference.size and not np.array_equal(~here.reshape(-1), there.reshape(-1)):
        return None
    ones = _are_ones(own) or _are_ones(reference)
    turned = ones or own.dtype == reference.dtype == np.bool_
    found = [
        (mask, places is there)
        for places in ([there, ~there] if turned else [there])
        for mask in _in_shape(places, own.shape)
    ]
    if not found:
        return None
    mask, upright = max(found, key=lambda pair: float((pair[0] == here).mean()))
    sure = upright and not ones
    if own.dtype == np.bool_:
        return Written(mask, sure)
    if _are_ones(own):
        return Written(mask.astype(own.dtype), sure)
    return Written(np.where(mask, own.min(), 0).astype(own.dtype), sure)


def _in_shape(mask: Truths, shape: tuple[int, ...]) -> Iterator[Truths]:
    """A mask in another shape: repeated, or once where it is the same for all."""
    if mask.size <= math.prod(shape):
        yield from _spread(mask, shape)
        return
    own = without_ones(shape)
    for axes in combinations(range(mask.ndim), len(own)):
        if tuple(mask.shape[axis] for axis in axes) == own:
            others = tuple(axis for axis in range(mask.ndim) if axis not in axes)
            if np.array_equal(mask.any(axis=others), mask.all(axis=others)):
                yield mask.any(axis=others).reshape(shape)


def _spread(mask: Truths, shape: tuple[int, ...]) -> Iterator[Truths]:
    """A mask repeated along axes that it has not, each way in which it fits."""
    if mask.size == math.prod(shape):
        yield mask.reshape(shape)
        return
    own = without_ones(mask.shape)
    for axes in combinations(range(len(shape)), len(own)):
        if tuple(shape[axis] for axis in axes) == own:
            kept = mask.reshape([shape[axis] if axis in axes else 1 for axis in range(len(shape))])
            yield np.broadcast_to(kept, shape)


def _hidden(array: Array) -> Truths | None:
    """The places that a mask hides; of truths and ones, those that are true."""
    if array.dtype == np.bool_:
        return array
    if _are_ones(array):
        return np.asarray(array == 1)
    return np.asarray(array <= MASKED) if is_mask(array) else None


def _are_ones(array: Array) -> bool:
    """Whether there is nothing but numbers that are zero or one."""
    if array.dtype.kind not in "iuf":
        return False
    glance = array.reshape(-1)[:: max(1, array.size // _GLANCE_SIZE)]
    return all(bool(((values == 0) | (values == 1)).all()) for values in (glance, array))
