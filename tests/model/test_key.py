"""The grammar of keys: one name for statistics, tensors, alignment, watch and JSON."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.model.key import Key, Kind, Phase

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("./#%\\ \n\r\t\0:%25%2F23abc\"'é中\u2028\u0085"), st.characters(exclude_categories=["Cs"])
    ),
    max_size=12,
)
KEYS = st.builds(
    Key,
    st.sampled_from(Phase),
    HOSTILE,
    st.integers(0, 10**6),
    st.sampled_from(Kind),
    HOSTILE.filter(bool),
)


def test_the_contract_s_own_example() -> None:
    key = Key.parse("train/layer1.0.conv1#0/out/0")
    assert key == Key(Phase.TRAIN, "layer1.0.conv1", 0, Kind.OUT, "0")
    assert str(key) == "train/layer1.0.conv1#0/out/0"


def test_every_kind_of_the_contract_and_no_other() -> None:
    assert [one.value for one in Kind] == ["in", "out", "gin", "gout", "param", "grad", "buffer", "opt"]
    assert [one.value for one in Phase] == ["train", "eval"]
    for kind in Kind:
        assert Key.parse(f"eval/a#3/{kind}/x").kind is kind


@given(KEYS)
def test_any_module_name_survives_the_text(key: Key) -> None:
    assert Key.parse(str(key)) == key


@given(KEYS)
def test_a_text_has_four_parts_whatever_a_module_is_called(key: Key) -> None:
    parts = str(key).split("/")
    assert len(parts) == 4
    assert parts[1].count("#") == 1


@given(KEYS, KEYS)
def test_different_keys_have_different_texts(one: Key, other: Key) -> None:
    assert (one == other) == (str(one) == str(other))


@given(KEYS)
def test_a_text_read_and_written_again_is_the_same(key: Key) -> None:
    assert str(Key.parse(str(key))) == str(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "train",
        "test/a#0/out/0",
        "train/a/out/0",
        "train/a#0/out",
        "train/a#0/out/",
        "train/a#0/weight/0",
        "train/a#-1/out/0",
        "train/a#01/out/0",
        "train/a#x/out/0",
        "train/a#٣/out/0",
        "train/a#0/out/0/1",
        "train/a/b#0/out/0",
        "train/a#0#0/out/0",
        " train/a#0/out/0",
        "train/a#0/out/0\n/",
    ],
)
def test_what_is_not_a_key_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape("phase/module.path#call/kind/index")):
        Key.parse(text)


def test_the_network_itself_has_an_empty_path() -> None:
    key = Key.parse("train/#0/out/0")
    assert key.module == ""
    assert str(key) == "train/#0/out/0"


def test_a_parameter_s_name_is_its_module_and_its_leaf() -> None:
    key = Key.of_parameter("layer1.0.conv1.weight")
    assert str(key) == "train/layer1.0.conv1#0/param/weight"
    assert key.parameter == "layer1.0.conv1.weight"
    assert Key.of_parameter("scale", "grad").parameter == "scale"
    assert str(Key.of_parameter("bn.running_mean", Kind.BUFFER, phase="eval")) == "eval/bn#0/buffer/running_mean"


def test_loose_values_are_checked() -> None:
    assert Key.of("a", "out", 1, call=2, phase="eval") == Key(Phase.EVAL, "a", 2, Kind.OUT, "1")
    with pytest.raises(ValueError, match="weights"):
        Key.of("a", "weights")


def test_keys_sort_so_that_reports_are_stable() -> None:
    keys = [Key.of("b", "out"), Key.of("a", "out", call=1), Key.of("a", "out")]
    assert [str(one) for one in sorted(keys)] == ["train/a#0/out/0", "train/a#1/out/0", "train/b#0/out/0"]
