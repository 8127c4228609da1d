from __future__ import annotations

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

from trueline.kernel import UnsupportedDtype, distance, native

NAN, INF = math.nan, math.inf


def test_every_number_of_a_small_example() -> None:
    found = distance(np.array([[1, 2], [3, 4.5]], np.float32), np.array([[1, 2], [3, 4]], np.float32))
    assert (found.count, found.equal, found.worst_index) == (4, 3, (1, 1))
    assert (found.max_abs, found.mean_abs, found.max_ref) == (0.5, 0.125, 4)
    assert found.relative_max == 0.125
    assert found.relative_l2 == pytest.approx(0.5 / math.sqrt(30))
    assert found.cosine == pytest.approx(32 / math.sqrt(34.25 * 30))
    assert found.within == 0.75
    assert not found.identical


def test_the_benchmark_is_the_second() -> None:
    assert distance([2.0], [1.0]).relative_max == 1
    assert distance([1.0], [2.0]).relative_max == 0.5


def test_the_same_array_is_identical_to_itself() -> None:
    x = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    x[:3] = NAN, INF, -INF
    found = distance(x, x.copy())
    assert found.identical
    assert (found.cosine, found.within, found.relative_l2, found.worst_index) == (1, 1, 0, None)
    assert found.same_non_finite == 3


def test_non_finite_elements_agree_only_with_their_like() -> None:
    a = [NAN, NAN, INF, INF, -INF, 1, NAN, 2]
    b = [NAN, INF, INF, -INF, -INF, NAN, 1, 2]
    found = distance(a, b)
    assert (found.same_non_finite, found.other_non_finite) == (3, 4)
    assert (found.non_finite_a, found.non_finite_b) == (6, 6)
    assert (found.equal, found.max_abs, found.count) == (1, 0, 8)
    assert found.within == 0.5
    assert not found.identical


def test_an_element_that_is_not_finite_on_one_side_only_is_not_within() -> None:
    assert distance([NAN], [1.0]).within == 0
    assert distance([NAN], [NAN]).within == 1
    assert distance(np.zeros(0), np.zeros(0)).within == 1


def test_zero_vectors() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    both, left, right = distance(zeros, -zeros), distance(zeros, ones), distance(ones, zeros)
    assert (both.cosine, both.relative_max, both.relative_l2, both.equal) == (1, 0, 0, 3)
    assert (left.cosine, left.relative_max, left.relative_l2) == (0, 1, 1)
    assert (right.cosine, right.relative_max, right.relative_l2) == (0, INF, INF)


def test_other_shapes_are_not_comparable() -> None:
    found = distance(np.ones((2, 3), np.float32), np.ones((3, 2), np.float16))
    assert not found.comparable
    assert (found.shape_a, found.shape_b, found.dtype_a, found.dtype_b) == ((2, 3), (3, 2), "float32", "float16")
    assert found.count == found.equal == found.within == 0


def test_a_number_without_dimensions() -> None:
    assert distance(1.0, 1.5).worst_index == ()
    assert distance(1.0, 1.0).worst_index is None


def test_the_first_of_equally_bad_elements_is_the_worst() -> None:
    a = np.zeros((3, 400_000), np.float32)
    b = a.copy()
    b[1, 7] = b[1, 8] = b[2, 399_999] = 2
    assert distance(a, b).worst_index == (1, 7)
    assert distance(b[:, ::-1], a).worst_index == (1, 399_991)


def test_64_bit_integers_are_compared_exactly() -> None:
    big = 2**53
    found = distance(np.array([big, big + 1, -(2**63)]), np.array([big, big, -(2**63)]))
    assert (found.equal, found.max_abs, found.worst_index) == (2, 1, (1,))
    mixed = distance(np.array([-1, 2**62], np.int64), np.array([2**64 - 1, 2**62], np.uint64))
    assert (mixed.equal, mixed.max_abs, mixed.worst_index) == (1, 2.0**64, (0,))
    assert distance(np.array([2**63 + 1], np.uint64), np.array([2**63], np.uint64)).max_abs == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1.7e308])
def test_squares_outside_the_range_of_doubles_do_no_harm(scale: float) -> None:
    found = distance(np.array([1, 0.5, 0]) * scale, np.array([1, 0.25, 0]) * scale)
    assert found.relative_max == pytest.approx(0.25)
    assert found.relative_l2 == pytest.approx(0.25 / math.sqrt(1.0625))
    assert found.mean_abs == pytest.approx(0.25 / 3 * scale)
    assert found.cosine == pytest.approx(1.125 / math.sqrt(1.25 * 1.0625))


def test_a_distance_beyond_doubles_is_infinite_but_its_ratio_is_not() -> None:
    found = distance(np.array([1.5e308]), np.array([-1.5e308]))
    assert (found.max_abs, found.cosine) == (INF, -1)
    assert (found.relative_max, found.relative_l2) == (2, 2)


def test_the_angle_does_not_depend_on_length() -> None:
    assert distance(np.array([1e-200, 0]), np.array([1.0, 0])).cosine == 1
    assert distance(np.array([1e-200, 0]), np.array([0, 1e200])).cosine == 0


def test_complex_numbers() -> None:
    found = distance(np.array([1 + 1j, 3 + 4j], np.complex64), np.array([1 + 1j, 0]))
    assert (found.max_abs, found.worst_index, found.equal) == (5, (1,), 1)
    assert found.relative_max == pytest.approx(5 / math.sqrt(2))
    non_finite = distance(np.array([complex(NAN, 1), complex(INF, 1)]), np.array([complex(2, NAN), complex(INF, 1)]))
    assert non_finite.same_non_finite == 2


DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(DTYPES, DTYPES)))
def test_every_type_meets_every_other(left: str, right: str) -> None:
    a, b = np.array([0, 1, 1, 1]).astype(left), np.array([0, 0, 1, 1]).astype(right)
    found = distance(a, b)
    assert (found.equal, found.max_abs, found.worst_index, found.max_ref) == (3, 1, (1,), 1)
    assert found.relative_l2 == pytest.approx(math.sqrt(0.5))


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(UnsupportedDtype):
        distance(np.array(["a"]), np.array(["a"]))


def test_how_arrays_lie_in_memory_changes_no_bit() -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((1700, 2011)).astype(np.float32)
    b = a + rng.normal(0, 1e-3, a.shape).astype(np.float32)
    want = distance(a, b)
    assert distance(np.asfortranarray(a), b) == want
    assert distance(a, b.astype(">f4")) == want
    assert distance(a[::-1].copy()[::-1], np.asfortranarray(b)) == want


def test_the_number_of_threads_changes_no_bit() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 2_000_001)).astype(np.float32)
    b[::777] = NAN
    assert distance(a, b, threads=1) == distance(a, b, threads=2) == distance(a, b, threads=9) == distance(a, b)


def test_a_worst_index_beyond_32_bits(kernel_backend: str) -> None:
    if kernel_backend == "twin":
        # The twin counts in Python's integers; two billion elements would only cost time.
        return
    a = np.zeros((2, 2**30 + 5), np.int8)
    b = np.zeros(a.shape, np.int8)
    b[1, -2] = 1
    assert distance(a, b).worst_index == (1, 2**30 + 3)


def test_every_cpu_gives_the_same_bits(kernel_backend: str) -> None:
    if kernel_backend == "twin":
        return
    rng = np.random.default_rng(3)
    dtypes = ("f8", "f4", "f2", ml_dtypes.bfloat16, "i4", "i8")
    pairs = [[rng.normal(0, 30, 100_003).astype(one) for one in two] for two in itertools.product(dtypes, dtypes)]
    best = [distance(a, b) for a, b in pairs]
    native.choose_lanes(best=False)
    try:
        assert [distance(a, b) for a, b in pairs] == best
    finally:
        native.choose_lanes(best=True)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float16", "bfloat16", "float32", "float64", "int64", "complex128"])
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_numbers_at_any_address(dtype: str, offset: int) -> None:
    """Mapped files hold them so."""
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    values = (np.random.default_rng(0).standard_normal(5000) * 50).astype(kind)
    held = np.zeros(values.nbytes + offset, np.uint8)
    held[offset:] = values.view(np.uint8)
    moved = held[offset:].view(values.dtype)
    assert distance(moved, values).identical and distance(values, moved).identical
    other = values.copy()
    other[4321] += 7
    assert distance(moved, other).worst_index == (4321,)
