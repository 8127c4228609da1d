"""The edges of an API's inputs, and how an array is brought onto one."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np

from trueline.kernel.array import Array


class Edge(StrEnum):
    """What is not ordinary about a draw; the value is the condition that it stands under."""

    NAN = "nan"
    NEGATIVE_AXIS = "negative_axis"
    EMPTY = "empty"
    BROADCAST = "broadcast"
    INTEGER = "integer"
    TIES = "ties"
    ZERO_D = "0-d"
    INF = "inf"
    STRIDED = "strided"
    FLOAT16 = "float16"
    ONE_ELEMENT = "one_element"
    LARGE = "large"
    ZERO = "zero"
    BOOL = "bool"
    FLOAT64 = "float64"
    NEGATIVE_ZERO = "negative_zero"
    MIXED_TYPES = "mixed_types"
    HALFWAY = "halfway"
    INT32 = "int32"


# What conditions.py cannot see from the values.
UNSEEN: Final = frozenset(
    {
        Edge.NEGATIVE_AXIS,
        Edge.BROADCAST,
        Edge.INTEGER,
        Edge.BOOL,
        Edge.TIES,
        Edge.ZERO,
        Edge.MIXED_TYPES,
        Edge.HALFWAY,
        Edge.INT32,
    }
)
# What an expression must name for a call to stand on an edge; the other edges need an array only.
NAMED: Final = {
    Edge.NEGATIVE_AXIS: frozenset({"axis", "axes", "axis_at", "new_axis"}),
    Edge.BROADCAST: frozenset({"broadcast"}),
    Edge.INT32: frozenset({"whole", "index"}),
}
# What is put into some arrays of a call only: where all have it, the effect of one hides that of another.
OF_SOME: Final = frozenset({Edge.NAN, Edge.INF, Edge.ZERO, Edge.NEGATIVE_ZERO, Edge.LARGE})
_TYPES: Final = {Edge.FLOAT16: np.float16, Edge.FLOAT64: np.float64}
_NUMBERS: Final = {Edge.NAN: np.nan, Edge.ZERO: 0.0, Edge.NEGATIVE_ZERO: -0.0}


def float_on_edge(array: Array, edge: Edge, rng: np.random.Generator, within: tuple[float, float]) -> Array | None:
    """A float32 array on an edge of its values or type; None where the edge is another's or means nothing here."""
    if edge in _TYPES:
        return array.astype(_TYPES[edge])
    if array.size == 0:
        return None
    low, high = within
    match edge:
        case Edge.NAN | Edge.ZERO | Edge.NEGATIVE_ZERO:
            return _placed(array, [_NUMBERS[edge]], rng)
        case Edge.INF:
            return _placed(array, [np.inf, -np.inf] if low < 0 else [np.inf], rng)
        case Edge.LARGE:
            sign = np.sign(array) if low < 0 else 1.0
            exponents = rng.choice([4.0, 8.0, 15.0, 30.0]) - rng.integers(0, 3, array.shape)
            return np.asarray(sign * np.round(np.abs(array) + 0.1, 1) * 10.0**exponents, np.float32)
        case Edge.TIES if array.size > 1:
            few = rng.choice(array.ravel(), min(2, array.size - 1), replace=False)
            return np.asarray(rng.choice(few, array.shape))
        case Edge.HALFWAY:
            return np.asarray(np.clip(np.floor(array) + 0.5, np.ceil(low) - 0.5, np.floor(high) + 0.5), np.float32)
        case Edge.INTEGER:
            return np.asarray(np.clip(np.round(array), np.ceil(low), np.floor(high)), np.int64)
        case Edge.BOOL:
            return np.asarray(array > (low + high) / 2)
    return None


def whole_on_edge(array: Array, edge: Edge, rng: np.random.Generator) -> Array | None:
    """An array of whole numbers on an edge of its values or type; None where the edge means nothing here."""
    if edge is Edge.INT32:
        return array.astype(np.int32)
    if edge is Edge.TIES and array.size > 1:
        return rng.choice(rng.choice(array.ravel(), min(2, array.size - 1), replace=False), array.shape)
    if edge is Edge.BOOL and array.size:
        return np.asarray(array % 2 == 1)
    return None


def _placed(array: Array, numbers: list[float], rng: np.random.Generator) -> Array:
    """The array with each number at a place of its own, as far as there are places."""
    placed = np.array(array)
    places = rng.choice(array.size, min(len(numbers), array.size), replace=False)
    placed.flat[places] = numbers[: len(places)]
    return placed
