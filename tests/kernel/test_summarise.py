from __future__ import annotations

import math
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from trueline.kernel import UnsupportedDtype, native, summarise
from trueline.locale import render

NAN, INF = math.nan, math.inf


def test_non_finite_elements_are_counted_and_left_out_of_the_numbers() -> None:
    found = summarise(np.array([3, NAN, -4, INF, 0, -INF, -0.0, INF], np.float32))
    assert (found.count, found.nan, found.pos_inf, found.neg_inf, found.zeros) == (8, 1, 2, 1, 2)
    assert (found.minimum, found.maximum) == (-4, 3)
    assert found.mean == -0.25
    assert found.abs_mean == 1.75
    assert found.l2 == pytest.approx(5)
    assert found.std == pytest.approx(np.std([3, -4, 0, 0]))


@pytest.mark.parametrize("x", [np.zeros(0, np.float32), np.zeros((3, 0)), np.full(9, NAN), np.full(9, -INF)])
def test_without_finite_elements_the_numbers_are_zero(x: np.ndarray) -> None:
    found = summarise(x)
    assert found.count == x.size
    assert (found.minimum, found.maximum, found.mean, found.abs_mean, found.std, found.l2) == (0,) * 6


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, -3.3e38, 1e-40, 7.0])
@pytest.mark.parametrize("size", [1, 7, 1024, 5000, 700_001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_array_has_exactly_no_spread(value: float, size: int, dtype: type) -> None:
    found = summarise(np.full(size, value, dtype))
    assert found.std == 0
    assert found.mean == dtype(value)


def test_a_small_spread_around_a_large_mean_is_not_lost() -> None:
    x = 1e6 + 1e-3 * np.random.default_rng(0).standard_normal(1_000_000)
    found = summarise(x)
    assert found.std == pytest.approx(float(np.std(x - 1e6)), rel=1e-9)
    assert found.mean == pytest.approx(1e6 + float(np.mean(x - 1e6)), rel=1e-15)


@pytest.mark.parametrize("size", [1e-300, 5e-324, 1e-80, 1e80, 1e300, 1.7e308])
def test_squares_outside_the_range_of_doubles_do_no_harm(size: float) -> None:
    found = summarise(np.array([size, -size, size, size]))
    assert found.mean == pytest.approx(size / 2, rel=1e-14, abs=5e-324)
    assert found.abs_mean == pytest.approx(size, rel=1e-14)
    assert found.l2 == pytest.approx(2 * size, rel=1e-14)
    assert found.std == pytest.approx(size * math.sqrt(0.75), rel=1e-14, abs=5e-324)


def test_half_precision_sums_do_not_overflow() -> None:
    found = summarise(np.full(100_000, 60_000, np.float16))
    assert found.mean == 59_968 + 32
    assert found.l2 == pytest.approx(60_000 * math.sqrt(100_000))


def test_bfloat16_is_read_without_ml_dtypes_being_asked() -> None:
    found = summarise(np.array([1.5, -3, NAN, 0], ml_dtypes.bfloat16))
    assert (found.minimum, found.maximum, found.nan, found.zeros, found.mean) == (-3, 1.5, 1, 1, -0.5)


def test_complex_numbers_count_by_their_absolute_value() -> None:
    found = summarise(np.array([3 + 4j, 0, complex(NAN, 1), complex(-INF, NAN)], np.complex64))
    assert (found.minimum, found.maximum, found.mean, found.zeros) == (0, 5, 2.5, 1)
    assert (found.nan, found.pos_inf, found.neg_inf) == (1, 1, 0)


def test_integers_beyond_doubles_are_rounded_not_refused() -> None:
    found = summarise(np.array([2**63 - 1, -(2**63)], np.int64))
    assert (found.minimum, found.maximum) == (-(2.0**63), 2.0**63)
    assert summarise(np.array([2**64 - 1], np.uint64)).maximum == 2.0**64


def test_scalars_and_lists_are_arrays_too() -> None:
    assert summarise(2.5).mean == 2.5
    assert summarise([1, 2, 3]).maximum == 3
    assert summarise(np.float32(1.5)).count == 1


@pytest.mark.parametrize("x", [np.array(["a"]), np.array([None]), np.zeros(2, "M8[s]"), np.zeros(2, np.longdouble)])
def test_what_is_not_a_number_is_refused_with_its_type(x: np.ndarray) -> None:
    with pytest.raises(UnsupportedDtype) as trouble:
        summarise(x)
    assert str(x.dtype) in str(trouble.value)
    assert str(x.dtype) in render("kernel.unsupported_dtype", {"dtype": x.dtype}, "zh")


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    read_only = x.copy()
    read_only.flags.writeable = False
    raw = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    return {
        "fortran": np.asfortranarray(x),
        "strided": np.repeat(x, 2, axis=-1)[..., ::2],
        "reversed": x[::-1, ::-1].copy()[::-1, ::-1],
        "big-endian": x.astype(x.dtype.newbyteorder(">")),
        "big-endian and strided": x.astype(x.dtype.newbyteorder(">")).T.copy().T,
        "read-only": read_only,
        "unaligned": unaligned,
        "subclass": x.view(np.matrix),
    }


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u2", "i1", "?", "c8", "c16"])
@pytest.mark.parametrize("shape", [(3, 5), (61, 1033), (1300, 1031)])
def test_how_an_array_lies_in_memory_changes_no_bit(dtype: str, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(0, 30, shape).astype(dtype)
    want = summarise(x)
    for name, other in layouts(x).items():
        assert summarise(other) == want, name


def test_a_strided_bfloat16_array_is_read() -> None:
    x = np.arange(6000, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(60, 100)
    assert summarise(np.asfortranarray(x)) == summarise(x)


def test_a_mapped_file_is_read_in_place(tmp_path: Path) -> None:
    x = np.random.default_rng(2).standard_normal(10_000).astype(np.float32)
    x.tofile(tmp_path / "x")
    assert summarise(np.memmap(tmp_path / "x", np.float32, "r")) == summarise(x)


def test_the_number_of_threads_changes_no_bit(kernel_backend: str) -> None:
    x = np.random.default_rng(3).standard_normal(3_000_001).astype(np.float32)
    x[::1000] = NAN
    assert summarise(x, threads=1) == summarise(x, threads=2) == summarise(x, threads=100) == summarise(x)


def test_threads_of_the_program_do_not_meet_in_the_kernel() -> None:
    arrays = [np.full(100, i, np.float32) for i in range(8)]
    wrong: list[int] = []

    def work(i: int) -> None:
        wrong.extend(i for _ in range(300) if summarise(arrays[i]).mean != i)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert not wrong


def test_more_elements_than_32_bits_can_count(kernel_backend: str) -> None:
    if kernel_backend == "twin":
        # The twin counts in Python's integers; two billion elements would only cost time.
        return
    x = np.zeros(2**31 + 5, np.int8)
    x[-1] = 3
    found = summarise(x)
    assert (found.count, found.zeros, found.maximum) == (2**31 + 5, 2**31 + 4, 3)


def test_every_cpu_gives_the_same_bits(kernel_backend: str) -> None:
    if kernel_backend == "twin":
        return
    rng = np.random.default_rng(4)
    arrays = [rng.normal(0, 30, 100_003).astype(dtype) for dtype in ("f8", "f4", "f2", "i4", "u1", "i8", "c8")]
    arrays.append(np.arange(65536, dtype=np.uint16).view(np.float16))
    arrays.append(np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16))
    best = [summarise(x) for x in arrays]
    native.choose_lanes(best=False)
    try:
        assert [summarise(x) for x in arrays] == best
    finally:
        native.choose_lanes(best=True)
