"""Whether two values are the same but for noise, for their shape, or for the order of their axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array

Floats = npt.NDArray[np.float64]

SAMPLE: Final = 4096
# What is added to scores that are not to be seen.
MASKED: Final = -1e4
# Masked values lie so many times further from zero than all others.
_MASK_MARGIN: Final = 100.0
_MOST_AXES: Final = 6


def floats(value: Array) -> Floats:
    """The value in float64."""
    return np.asarray(value, dtype=np.float64)


def spread_size(arrays: Iterable[Array]) -> int:
    """How many elements arrays have that are spread over each other; 0 where they cannot be."""
    try:
        return math.prod(np.broadcast_shapes(*(array.shape for array in arrays)))
    except ValueError:
        return 0


def sampled(value: Array, count: int = SAMPLE) -> Floats:
    """About so many elements, the same ones of every value of one size."""
    flat = value.reshape(-1)
    if flat.size <= count:
        return floats(flat)
    # A step without common factors with usual sizes reaches all rows and columns.
    step = flat.size // count
    while math.gcd(step, flat.size) > 1:
        step += 1
    return floats(flat[::step])


def level(value: Array, reference: Array) -> float:
    """The largest difference, element by element, relative to the reference's largest; inf where not comparable."""
    if value.size != reference.size:
        return math.inf
    if not value.size:
        return 0.0
    here, there = floats(value).reshape(-1), floats(reference).reshape(-1)
    with np.errstate(all="ignore"):
        gap, scale = float(np.abs(here - there).max()), float(np.abs(there).max())
    if math.isfinite(gap) and 0.0 < scale < -MASKED:
        # Nothing is masked, and all is finite: mostly so.
        return gap / scale
    finite = np.isfinite(there)
    if not finite.all():
        odd = ~finite
        if not np.array_equal(here[odd], there[odd], equal_nan=True):
            return math.inf
        here, there = here[finite], there[finite]
        if not here.size:
            return 0.0
    masked = _masked(there)
    if masked is not None:
        # What is masked away is no scale for what is not.
        return max(_gap(here[masked], there[masked]), _gap(here[~masked], there[~masked]))
    return _gap(here, there)


def _gap(here: Floats, there: Floats) -> float:
    gap = float(np.max(np.abs(here - there)))
    if math.isnan(gap):
        return math.inf
    scale = float(np.max(np.abs(there)))
    return gap / scale if scale else (0.0 if gap == 0.0 else math.inf)


def _masked(value: Floats) -> npt.NDArray[np.bool_] | None:
    """Where large negative numbers stand that are far from all others; None where there are none."""
    found = value <= MASKED
    if not found.any() or found.all():
        return None
    return found if float(np.max(np.abs(value[~found]))) * _MASK_MARGIN <= -float(np.max(value[found])) else None


def equal(value: Array, reference: Array, floor: float) -> bool:
    """Whether the elements are the same in order, whatever the shapes."""
    if value.size != reference.size:
        return False
    if value.size > 2 * SAMPLE and level(sampled(value), sampled(reference)) > 4 * floor:
        return False
    return level(value, reference) <= floor


def equal_but_masked(value: Array, reference: Array, floor: float) -> bool:
    """Whether two scores are masked at the same places, by whatever number, and are the same elsewhere."""
    if value.size != reference.size:
        return False
    here, there = floats(value).reshape(-1), floats(reference).reshape(-1)
    masked = there <= MASKED
    if not masked.any() or masked.all() or not np.array_equal(masked, here <= MASKED):
        return False
    return level(here[~masked], there[~masked]) <= floor


def hidden(value: Array, reference: Array) -> npt.NDArray[np.bool_] | None:
    """Where two scores are masked, in the reference's shape; None where neither is, or each at other places.

    By whatever number: what is masked says nothing, as long as it lies far enough from all else.
    """
    if value.size != reference.size or value.dtype.kind not in "fi" or reference.dtype.kind not in "fi":
        return None
    here, there = value.reshape(reference.shape) <= MASKED, reference <= MASKED
    if not there.any() or there.all() or not np.array_equal(here, there):
        return None
    apart = (array is not None and _masked(floats(array)) is not None for array in (value, reference))
    return there if all(apart) else None


@dataclass(frozen=True, slots=True)
class Turn:
    """Another order of axes: of a value in this shape, the axes in this order."""

    shape: tuple[int, ...]
    order: tuple[int, ...]

    def apply(self, value: Array) -> Array:
        """The value's elements in the other order."""
        return value.reshape(self.shape).transpose(self.order)


def turns(here: tuple[int, ...], there: tuple[int, ...]) -> Iterator[Turn]:
    """Orders of axes, other than the present one, in which a value of one shape may be one of the other."""
    here, there = without_ones(here), without_ones(there)
    if len(here) >= len(there):
        for order in _orders(len(here)):
            yield Turn(here, order)
        return
    for order in _orders(len(there)):
        back = tuple(order.index(axis) for axis in range(len(there)))
        yield Turn(tuple(there[axis] for axis in order), back)


def _orders(axes: int) -> Iterator[tuple[int, ...]]:
    present = tuple(range(axes))
    if 2 <= axes <= _MOST_AXES:
        yield from (order for order in permutations(present) if order != present)


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its axes of one element."""
    return tuple(size for size in shape if size != 1)


def reordered(value: Array, reference: Array, floor: float) -> Turn | None:
    """The order of axes in which a value's elements are the reference's; None if there is none."""
    if value.size != reference.size or value.size < 2 or not alike(value, reference, floor):
        return None
    for turn in turns(value.shape, reference.shape):
        if equal(turn.apply(value), reference, floor):
            return turn
    return None


def alike(value: Array, reference: Array, floor: float) -> bool:
    """Whether two values may hold the same elements in some order."""
    here, there = floats(value), floats(reference)
    if not (np.isfinite(here).all() and np.isfinite(there).all()):
        return int(np.isfinite(here).sum()) == int(np.isfinite(there).sum())
    scale = float(np.max(np.abs(there)))
    near = 4 * floor * scale
    return (
        abs(float(here.max()) - float(there.max())) <= near
        and abs(float(here.min()) - float(there.min())) <= near
        and abs(float(here.mean()) - float(there.mean())) <= near
    )
