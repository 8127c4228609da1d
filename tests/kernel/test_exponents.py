"""Binary exponents, counted: what frexp says of every single element."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from trueline.kernel.exponents import Exponents, count_exponents


def by_hand(array: Any, divided_by: float = 1.0) -> tuple[Counter[int], int, int]:
    counts: Counter[int] = Counter()
    zeros = nonfinite = 0
    for value in np.asarray(array, np.float64).reshape(-1):
        if value == 0:
            zeros += 1
        elif not math.isfinite(value):
            nonfinite += 1
        else:
            counts[math.frexp(value / divided_by)[1] - 1] += 1
    return counts, zeros, nonfinite


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("divided_by", [1.0, 1024.0, 0.25, 3000.0])
def test_elements_are_counted_by_their_size(dtype: Any, divided_by: float) -> None:
    draw = np.random.default_rng(0)
    array = (draw.normal(size=(5, 400)) * 2.0 ** draw.integers(-20, 15, (5, 400))).astype(dtype)
    array[0, :7] = 0
    array[1, 3] = np.inf
    array[1, 4] = np.nan
    found = count_exponents(array, divided_by=divided_by)
    counts, zeros, nonfinite = by_hand(array, divided_by)
    assert (found.by_exponent(), found.zeros, found.nonfinite) == (dict(counts), zeros, nonfinite)
    assert found.total == array.size
    finite = np.abs(array.astype(np.float64))[np.isfinite(array.astype(np.float64))]
    assert found.largest == pytest.approx(finite.max() / divided_by, rel=1e-6)


def test_halfs_smallest_numbers_are_told_apart() -> None:
    found = count_exponents(np.array([2.0**-24, 2.0**-15, 2.0**-14, 65504.0], np.float16))
    assert found.by_exponent() == {-24: 1, -15: 1, -14: 1, 15: 1}
    assert found.largest == 65504.0


def test_a_strided_array_is_counted_as_it_is_and_parts_add_up() -> None:
    array = np.arange(200_000, dtype=np.float32).reshape(400, 500).T[::2]
    whole = count_exponents(array)
    parts = count_exponents(array[:100]) + count_exponents(array[100:])
    assert whole.by_exponent() == parts.by_exponent() == dict(by_hand(array)[0])
    assert (Exponents.none() + whole).largest == float(array.max())


def test_nothing_is_nothing() -> None:
    found = count_exponents(np.zeros((0, 3), np.float32))
    assert (found.total, found.largest, found.by_exponent()) == (0, 0.0, {})
