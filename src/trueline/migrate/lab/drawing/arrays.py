"""Arrays with a structure: matrices that can be inverted, probabilities, labels and indices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from trueline.kernel.array import Array

_GRID: Final = 100  # values have two decimals, which makes a printed example readable
_OFF: Final = 5  # multiples of 0.05 are left to the constants of calls, so that no value ties with one or is halfway
# Added to the numbers of the second array of a call and so on, so that no two arrays tie at a place.
_SHIFTS: Final = (0.0, 0.005, 0.002, 0.007)


@dataclass(frozen=True, slots=True)
class Values:
    """The range that the numbers of an array are drawn from."""

    low: float
    high: float


def floats(rng: np.random.Generator, values: Values, shape: tuple[int, ...], place: int = 0) -> Array:
    """Float32 numbers, none of them twice as far as the range has enough, for the array at a place of a call."""
    count = math.prod(shape)
    grid = _grid(values)
    drawn = rng.choice(grid, count, replace=count > len(grid))
    return np.asarray(drawn / _GRID + _SHIFTS[place % len(_SHIFTS)], np.float32).reshape(shape)


@cache
def _grid(values: Values) -> Array:
    grid = np.arange(round(values.low * _GRID), round(values.high * _GRID) + 1)
    return np.asarray(grid[grid % _OFF != 0])


def complex_numbers(rng: np.random.Generator, *shape: int) -> Array:
    """Complex numbers of single precision."""
    real, imaginary = (floats(rng, Values(-3.0, 3.0), shape) for _ in range(2))
    return np.asarray(real + 1j * imaginary, np.complex64)


def invertible(rng: np.random.Generator, *shape: int) -> Array:
    """Square matrices whose diagonal dominates, so that inverse and determinant are well conditioned."""
    size = shape[-1]
    return np.asarray(_rounded(rng, shape) + np.diag(rng.choice([-1, 1], size) * (size + 1.0)), np.float32)


def positive_definite(rng: np.random.Generator, *shape: int) -> Array:
    """Symmetric positive definite matrices."""
    array = _rounded(rng, shape)
    return np.asarray((array + np.swapaxes(array, -1, -2)) / 2 + np.eye(shape[-1]) * 4, np.float32)


def lower(rng: np.random.Generator, *shape: int) -> Array:
    """Lower triangular matrices with a diagonal away from zero."""
    return np.asarray(np.tril(_rounded(rng, shape), -1) + np.eye(shape[-1]) * 2, np.float32)


def stochastic(rng: np.random.Generator, *shape: int) -> Array:
    """Positive numbers that add up to one along the last axis."""
    array = rng.uniform(0.1, 1.0, shape)
    return np.asarray(array / array.sum(axis=-1, keepdims=True), np.float32)


def log_probabilities(rng: np.random.Generator, *shape: int) -> Array:
    """Logarithms of numbers that add up to one along the last axis."""
    return np.asarray(np.log(stochastic(rng, *shape)))


def one_hot(rng: np.random.Generator, *shape: int) -> Array:
    """A single one along the last axis, zero elsewhere."""
    return np.asarray(np.eye(shape[-1])[rng.integers(0, shape[-1], shape[:-1])], np.float32)


def distinct(rng: np.random.Generator, bound: int, *shape: int) -> Array:
    """Indices below a bound, none of them twice."""
    return rng.permutation(bound)[: math.prod(shape)].reshape(shape)


def labels(rng: np.random.Generator, *shape: int) -> Array:
    """Distinct classes along the last axis, ended by -1, as a loss of several labels takes them."""
    array = np.full(shape, -1, np.int64)
    for row in array.reshape(-1, shape[-1]):
        count = int(rng.integers(1, shape[-1]))
        row[:count] = rng.permutation(shape[-1])[:count]
    return array


def pivots(rng: np.random.Generator, size: int) -> Array:
    """The pivots of an LU decomposition: row i is exchanged with one that is not above it, counted from one."""
    return np.array([rng.integers(row, size) + 1 for row in range(size)], np.int32)


def pooled(rng: np.random.Generator, *shape: int) -> Array:
    """The indices that a pooling of windows of two along all axes but two gives for an output of this shape."""
    batch, places = shape[:2], shape[2:]
    flat = np.zeros(shape, np.int64)
    for axis, size in enumerate(places):
        along = np.arange(size).reshape([-1 if other == axis else 1 for other in range(len(places))])
        flat = flat * (2 * size) + 2 * along + rng.integers(0, 2, (*batch, *places))
    return flat


def _rounded(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.round(rng.uniform(-1, 1, shape), 2)
