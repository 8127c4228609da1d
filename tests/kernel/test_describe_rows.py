from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from trueline.kernel import RowStats, describe_rows, summarise
from trueline.model.sample import Batch, SampleField


def check(x: np.ndarray) -> RowStats:
    found = describe_rows(x)
    for i, row in enumerate(x):
        want = summarise(row)
        assert found.fingerprints[i] == want.fingerprint
        with np.errstate(over="ignore"):
            assert found.mean[i] == np.float32(want.mean)
            assert found.std[i] == np.float32(want.std)
            assert found.minimum[i] == np.float32(want.minimum)
            assert found.maximum[i] == np.float32(want.maximum)
    return found


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "u1", "i8", "c8", ">f4", ml_dtypes.bfloat16])
def test_a_row_is_described_as_it_is_summarised(dtype: str) -> None:
    batch = np.random.default_rng(0).normal(0, 50, (9, 3, 17, 31)).astype(dtype)
    check(batch)
    check(batch.transpose(0, 2, 3, 1))
    check(batch[::-2, :, ::3])


def test_labels_are_rows_of_one_number() -> None:
    found = check(np.array([3, 1, 3, 2]))
    assert found.fingerprints[0] == found.fingerprints[2] != found.fingerprints[1]
    assert list(found.std) == [0, 0, 0, 0]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_batches(shape: tuple[int, ...]) -> None:
    assert check(np.zeros(shape, np.float32)).mean.shape == shape[:1]
    assert check(np.zeros(shape, ">f4")).mean.shape == shape[:1]


def test_rows_with_non_finite_and_huge_numbers() -> None:
    check(np.array([[math.nan, 1, math.inf], [1e308, 1e308, -1e308], [math.nan] * 3, [1e-300, 0, 0]]))


def test_rows_larger_than_a_chunk() -> None:
    check(np.random.default_rng(1).standard_normal((2_200_000, 2)).astype(np.float32).T)


def test_a_batch_has_a_first_dimension() -> None:
    with pytest.raises(ValueError, match="dimension"):
        describe_rows(np.float32(3))


def test_the_numbers_go_into_a_sample_field_and_back() -> None:
    x = np.random.default_rng(2).standard_normal((4, 5)).astype(np.float32)
    rows = describe_rows(x)
    field = SampleField("image", (5,), "float32", rows.fingerprints, rows.mean, rows.std, rows.minimum, rows.maximum)
    back = Batch.from_json(Batch(4, [field]).to_json()).fields[0]
    assert list(back.fingerprints) == [summarise(row).fingerprint for row in x]
    assert list(back.mean) == list(rows.mean)
