"""Numbers in files: valid JSON whatever the network did."""

from __future__ import annotations

import json
import math
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.model.finding import Conclusion
from trueline.model.numbers import decode, dump_json, encode, plain

TREES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner), st.tuples(inner, inner)),
)


def _strict(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@given(st.floats())
def test_every_float_comes_back(value: float) -> None:
    found = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert found == value or (math.isnan(found) and math.isnan(value))


def test_the_words_are_the_contract_s() -> None:
    assert [encode(one) for one in (math.nan, math.inf, -math.inf, -0.0)] == ["nan", "inf", "-inf", -0.0]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1.5", "", True, None, [1.0]])
def test_anything_else_is_not_a_number(value: Any) -> None:
    with pytest.raises(ValueError, match="not a number"):
        decode(value)


@given(TREES)
def test_any_tree_becomes_strictly_valid_json(tree: Any) -> None:
    assert _strict(dump_json(tree)) == plain(tree)


def test_numbers_of_arrays_stay_numbers() -> None:
    tree = {"a": np.float32(1.5), "b": np.int64(3), "c": np.bool_(True), "d": np.float64("nan"), "e": np.float16("inf")}
    assert plain(tree) == {"a": 1.5, "b": 3, "c": True, "d": "nan", "e": "inf"}
    assert plain(np.array([[1, 2]])) == [[1, 2]]
    assert plain(np.array(np.inf, np.float32)) == "inf"
    assert plain(np.float32) == "<class 'numpy.float32'>"


def test_enums_paths_and_sets_become_text_and_sorted_lists() -> None:
    assert plain({"x": Conclusion.NA, 3: PurePosixPath("a/b"), "s": {"b", "a"}}) == {
        "x": "na",
        "3": "a/b",
        "s": ["a", "b"],
    }
    assert type(plain(Conclusion.NA)) is str


def test_a_lone_surrogate_from_a_file_name_can_still_be_written() -> None:
    text = dump_json({"file": b"caf\xe9.py".decode("utf-8", "surrogateescape")})
    text.encode("utf-8")
    assert _strict(text)["file"].encode("utf-8", "surrogateescape") == b"caf\xe9.py"
