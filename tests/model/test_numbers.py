"""Numbers in files: valid JSON whatever the network did."""

from __future__ import annotations

import json
import math
from enum import IntFlag
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


class Count(int):
    """A kind of number that a user has derived."""


@pytest.mark.parametrize("value", [np.float64(1.5), np.float64("inf"), np.float32(0.25), np.int64(3), Count(3), True])
def test_a_derived_kind_of_number_is_written_as_python_s_own(value: Any) -> None:
    found = plain({"lr": [value]})["lr"][0]
    assert type(found) in (bool, int, float, str)
    assert found == encode(value)


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


def test_nothing_in_json_steers_a_terminal() -> None:
    steering = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x202E, 0x2028, 0x2066]))
    text = dump_json({steering: [steering, "\u00e9 \u6587"]})
    assert not any(character in text for character in steering)
    assert "\\u009b" in text and "\u00e9 \u6587" in text
    assert json.loads(text) == {steering: [steering, "\u00e9 \u6587"]}


@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_a_whole_number_beyond_floats_is_no_number(value: int) -> None:
    with pytest.raises(ValueError, match="float"):
        decode(value)


@pytest.mark.parametrize("number", [np.float64(0.1), np.float64("nan"), IntFlag("Bits", "A B").B, np.bool_(True)])
def test_a_number_of_a_class_of_its_own_is_that_number(number: Any) -> None:
    found = plain({"lr": [number]})["lr"][0]
    assert type(found) in (bool, int, float, str)
    assert found == ("nan" if number != number else number)
