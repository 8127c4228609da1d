"""The native code, its twin and a naive exact reckoning agree on anything."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from trueline.kernel import backend, describe_rows, distance, fingerprint, native, summarise
from trueline.model.distance import Distance
from trueline.model.summary import Summary

REAL = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "bfloat16"]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7)
Pair = tuple[np.ndarray, np.ndarray]
# From here a last rounding may turn a double into infinity.
LAST = 1.7976931348e308
BACKENDS = [backend.TWIN, *([backend.NATIVE] if native.is_loaded() else [])]


def arrays(dtype: str, shape: Any) -> st.SearchStrategy[np.ndarray]:
    if dtype == "bfloat16":
        return hnp.arrays(np.uint16, shape).map(lambda bits: bits.view(ml_dtypes.bfloat16))
    return hnp.arrays(np.dtype(dtype), shape)


@st.composite
def any_array(draw: st.DrawFn, dtypes: tuple[str, ...] = (*REAL, "c8", "c16")) -> np.ndarray:
    x = draw(arrays(draw(st.sampled_from(dtypes)), draw(SHAPES)))
    return relaid(draw, x)


def relaid(draw: st.DrawFn, x: np.ndarray) -> np.ndarray:
    how = draw(st.sampled_from(["as is", "transposed", "reversed", "every second", "swapped bytes", "read-only"]))
    if how == "transposed":
        return x.T
    if how == "reversed" and x.ndim:
        return x[::-1]
    if how == "every second" and x.ndim:
        return x[..., ::2]
    if how == "swapped bytes" and x.dtype.name != "bfloat16":
        return x.astype(x.dtype.newbyteorder("S"))
    if how == "read-only":
        x.flags.writeable = False
    return x


@st.composite
def two_arrays(draw: st.DrawFn) -> Pair:
    """Two arrays of one shape, often of one type, often nearly the same."""
    shape = draw(SHAPES)
    a = draw(arrays(draw(st.sampled_from(REAL)), shape))
    if draw(st.booleans()):
        b = a.copy()
        if b.size:
            b.reshape(-1)[draw(st.integers(0, b.size - 1))] = draw(st.sampled_from([0, 1]))
    else:
        b = draw(arrays(draw(st.sampled_from(REAL)), shape))
    return a, b


def run_all(call: Any) -> list[Any]:
    before = backend.current()
    found = []
    for one in BACKENDS:
        backend.use(one)
        found.append(call())
    if native.is_loaded():
        native.choose_lanes(best=False)
        found.append(call())
        native.choose_lanes(best=True)
    backend.use(before)
    return found


def rounded(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def root(x: Fraction) -> float:
    if x == 0:
        return 0.0
    half = (x.numerator.bit_length() - x.denominator.bit_length()) // 2
    return rounded(Fraction(math.sqrt(float(x / Fraction(4) ** half))) * Fraction(2) ** half)


def close(found: float, want: float, scale: float = 0.0) -> bool:
    if math.isinf(found) and abs(want) > LAST:
        return found * want > 0
    return found == want or abs(found - want) <= 1e-12 * max(abs(want), scale) + 1e-322


def numbers(x: np.ndarray) -> list[Any]:
    values = x.astype(np.float64) if x.dtype.name == "bfloat16" else x
    return [int(one) if isinstance(one, bool) else one for one in values.reshape(-1).tolist()]


def same(left: float, right: float) -> bool:
    return left == right or (left != left and right != right)


@settings(max_examples=400, deadline=None)
@given(any_array(tuple(REAL)))
def test_a_summary_is_what_exact_reckoning_says(x: np.ndarray) -> None:
    values = numbers(x)
    finite = [Fraction(one) for one in values if math.isfinite(one)]
    n = len(finite)
    mean = sum(finite, Fraction()) / n if n else Fraction()
    abs_mean = rounded(sum(map(abs, finite), Fraction()) / n) if n else 0.0
    for found in run_all(lambda: summarise(x)):
        assert isinstance(found, Summary)
        assert found.count == x.size
        assert found.nan == sum(one != one for one in values)
        assert found.pos_inf == values.count(math.inf)
        assert found.neg_inf == values.count(-math.inf)
        assert found.zeros == values.count(0)
        assert found.minimum == (float(min(finite)) if n else 0)
        assert found.maximum == (float(max(finite)) if n else 0)
        assert close(found.mean, rounded(mean), abs_mean)
        assert close(found.abs_mean, abs_mean)
        assert close(found.l2, root(sum((one * one for one in finite), Fraction())))
        std = root(sum(((one - mean) ** 2 for one in finite), Fraction()) / n) if n else 0.0
        # 64-bit integers are rounded to doubles before they are summed.
        assert close(found.std, std, abs_mean * 1e-3 if x.dtype.itemsize == 8 and x.dtype.kind in "iu" else 0.0)


@settings(max_examples=200, deadline=None)
@given(any_array())
def test_native_and_twin_summarise_alike(x: np.ndarray) -> None:
    first, *others = run_all(lambda: summarise(x))
    for other in others:
        for name in ("count", "nan", "pos_inf", "neg_inf", "zeros", "minimum", "maximum", "fingerprint"):
            assert getattr(first, name) == getattr(other, name), name
        assert close(first.mean, other.mean, first.abs_mean)
        assert close(first.abs_mean, other.abs_mean)
        assert close(first.std, other.std)
        assert close(first.l2, other.l2)


@settings(max_examples=200, deadline=None)
@given(any_array())
def test_a_fingerprint_speaks_of_content_alone(x: np.ndarray) -> None:
    plain = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("="))
    prints = {*run_all(lambda: fingerprint(x)), *run_all(lambda: fingerprint(plain)), summarise(x).fingerprint}
    assert len(prints) == 1


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_changed_element_changes_the_fingerprint(data: st.DataObject) -> None:
    x = data.draw(hnp.arrays(np.float32, st.integers(1, 3000), elements=st.floats(width=32), fill=st.just(0.5)))
    y = x.copy()
    bits = y.view(np.uint32)
    bits[data.draw(st.integers(0, x.size - 1))] ^= np.uint32(1 << data.draw(st.integers(0, 31)))
    assert fingerprint(x) != fingerprint(y)


def pairs(a: np.ndarray, b: np.ndarray) -> list[tuple[Any, Any]]:
    """The pairs as they are subtracted: integers as integers, everything else as doubles."""
    left, right = numbers(a), numbers(b)
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return list(zip(left, right, strict=True))
    return [(float(one), float(other)) for one, other in zip(left, right, strict=True)]


@settings(max_examples=400, deadline=None)
@given(two_arrays(), st.sampled_from([(1e-5, 1e-8), (0.0, 0.0), (0.5, 1.0)]))
def test_a_distance_is_what_exact_reckoning_says(
    two: tuple[np.ndarray, np.ndarray], limits: tuple[float, float]
) -> None:
    a, b = two
    rtol, atol = limits
    all_pairs = pairs(a, b)
    both = [(x, y) for x, y in all_pairs if math.isfinite(x) and math.isfinite(y)]
    alike = sum(same(x, y) for x, y in all_pairs if not (math.isfinite(x) and math.isfinite(y)))
    exact = [(Fraction(x), Fraction(y)) for x, y in both]
    apart = [abs(x - y) for x, y in exact]
    dd, bb = sum((one * one for one in apart), Fraction()), sum((y * y for _, y in exact), Fraction())
    aa, ab = sum((x * x for x, _ in exact), Fraction()), sum((x * y for x, y in exact), Fraction())
    largest, reference = max(apart, default=Fraction()), max((abs(y) for _, y in exact), default=Fraction())
    for found in run_all(lambda: distance(a, b, rtol, atol)):
        assert isinstance(found, Distance)
        assert found.count == a.size
        assert found.non_finite_a == sum(not math.isfinite(x) for x, _ in all_pairs)
        assert found.non_finite_b == sum(not math.isfinite(y) for _, y in all_pairs)
        assert found.same_non_finite == alike
        assert found.other_non_finite == len(all_pairs) - len(both) - alike
        assert found.equal == sum(x == y for x, y in both)
        assert close(found.max_abs, rounded(largest))
        assert found.max_ref == rounded(reference)
        assert close(found.mean_abs, rounded(sum(apart, Fraction()) / len(apart)) if apart else 0.0)
        if bb:
            assert close(found.relative_max, rounded(largest / reference))
            assert close(found.relative_l2, root(dd / bb))
        else:
            assert found.relative_max == found.relative_l2 == (math.inf if dd else 0)
        if aa and bb:
            cosine = root(ab * ab / (aa * bb)) * (1 if ab > 0 else -1)
            assert abs(found.cosine - cosine) <= 1e-12
        else:
            assert found.cosine == float(aa == bb)
        inside = sum(rounded(one) <= atol + rtol * abs(float(y)) for one, (_, y) in zip(apart, both, strict=True))
        assert found.within == ((inside + alike) / len(all_pairs) if all_pairs else 1)
        assert (found.worst_index is None) == (largest == 0)
        if found.worst_index is not None:
            x, y = all_pairs[int(np.ravel_multi_index(found.worst_index, a.shape)) if a.shape else 0]
            assert close(rounded(abs(Fraction(x) - Fraction(y))), rounded(largest))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_native_and_twin_measure_alike(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    a, b = (data.draw(arrays(data.draw(st.sampled_from([*REAL, "c8", "c16"])), shape)) for _ in range(2))
    first, *others = run_all(lambda: distance(a, b))
    for other in others:
        exact = ("count", "equal", "worst_index", "non_finite_a", "non_finite_b", "same_non_finite", "other_non_finite")
        for name in (*exact, "max_abs", "max_ref", "within"):
            assert getattr(first, name) == getattr(other, name), name
        for name in ("mean_abs", "relative_max", "relative_l2"):
            assert close(getattr(first, name), getattr(other, name)), name
        assert close(first.cosine, other.cosine, 1.0)


@settings(max_examples=100, deadline=None)
@given(any_array())
def test_rows_are_described_as_they_are_summarised(x: np.ndarray) -> None:
    if x.ndim == 0:
        x = x.reshape(1)
    for found in run_all(lambda: describe_rows(x)):
        with np.errstate(over="ignore"):
            for i, row in enumerate(x):
                want = summarise(row)
                assert int(found.fingerprints[i]) == want.fingerprint
                assert found.minimum[i] == np.float32(want.minimum)
                assert found.maximum[i] == np.float32(want.maximum)
                assert found.mean[i] == pytest.approx(float(np.float32(want.mean)), rel=1e-5, abs=1e-6 * want.abs_mean)
                assert found.std[i] == pytest.approx(float(np.float32(want.std)), rel=1e-5, abs=1e-44)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "u1"])
def test_large_arrays_are_summed_without_loss(dtype: str) -> None:
    x = np.random.default_rng(0).normal(3, 40, 400_003).astype(dtype)
    values = x.astype(np.float64).tolist()
    mean = math.fsum(values) / x.size
    for found in run_all(lambda: summarise(x)):
        assert close(found.mean, mean, found.abs_mean)
        assert close(found.abs_mean, math.fsum(map(abs, values)) / x.size)
        assert close(found.l2, math.sqrt(math.fsum(one * one for one in values)))
        assert close(found.std, math.sqrt(math.fsum((one - mean) ** 2 for one in values) / x.size))
