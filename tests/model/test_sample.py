"""Batches: small enough to keep for every step, and refused where they are broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.model.sample import Batch, SampleField

FLOATS = st.floats(width=32, allow_nan=False)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Any batch."""
    size = draw(st.integers(0, 5))

    def some(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    fields = [
        SampleField(
            draw(st.text()),
            tuple(draw(st.lists(st.integers(0, 9), max_size=3))),
            "float32",
            some(st.integers(0, 2**64 - 1)),
            some(FLOATS),
            some(FLOATS),
            some(FLOATS),
            some(FLOATS),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return Batch(size, fields, draw(st.one_of(st.none(), st.just(list(range(size))))))


def _field() -> SampleField:
    return SampleField("image", (3, 2), "uint8", [1, 2**64 - 1], [0.5, 1], [0, 0], [0, 0], [1, 1])


@given(batches())
def test_a_batch_comes_back_from_a_file_as_it_was(batch: Batch) -> None:
    again = Batch.from_json(json.loads(json.dumps(batch.to_json(), allow_nan=False)))
    assert again.to_json() == batch.to_json()
    assert again.size == batch.size
    assert again.indexes == batch.indexes
    for one, other in zip(again.fields, batch.fields, strict=True):
        assert (one.name, one.shape, one.dtype) == (other.name, other.shape, other.dtype)
        for name in ("fingerprints", "mean", "std", "minimum", "maximum"):
            assert list(getattr(one, name)) == list(getattr(other, name))


def test_numbers_that_are_not_finite_survive_the_packing() -> None:
    odd = [float("nan"), float("inf")]
    field = SampleField("x", (), "float32", [0, 0], odd, odd, odd, odd)
    found = json.loads(json.dumps(field.to_json(), allow_nan=False))
    again = SampleField.from_json(found, 2)
    assert str(list(again.mean)) == "[nan, inf]"


@pytest.mark.parametrize("name", ["fingerprints", "mean", "max", "name", "shape", "dtype"])
def test_a_field_that_lacks_something_is_refused(name: str) -> None:
    found = _field().to_json()
    del found[name]
    with pytest.raises(ValueError, match=name):
        SampleField.from_json(found, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fingerprints", "AAAA"),
        ("mean", "!!!!"),
        ("mean", "é"),
        ("std", 3),
        ("min", None),
        ("max", ""),
        ("shape", 4),
        ("shape", [None]),
    ],
)
def test_a_broken_field_is_refused_with_a_value_error(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        SampleField.from_json({**_field().to_json(), name: value}, 2)


def test_a_field_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="2 packed numbers for 3 samples"):
        SampleField.from_json(_field().to_json(), 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"size": None},
        {"size": -1},
        {"size": "2"},
        {"size": True},
        {"fields": 3},
        {"fields": [3]},
        {"fields": None},
        {"indexes": "01"},
        {"indexes": ["a", "b"]},
        {"indexes": [True, 1]},
    ],
)
def test_a_broken_batch_is_refused_with_a_value_error(changes: dict[str, Any]) -> None:
    found = Batch(2, [_field()], [4, 7]).to_json()
    with pytest.raises(ValueError, match=r".+"):
        Batch.from_json({**found, **changes})


def test_a_batch_may_lack_indexes() -> None:
    found = Batch(2, [_field()]).to_json()
    assert Batch.from_json(found).indexes is None
