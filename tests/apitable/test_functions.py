"""The laws of the table of functions, and the queries to it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import fields
from importlib import resources

import pytest

from trueline.apitable.functions import (
    Function,
    classes_of,
    fills,
    functions,
    functions_of,
    ignored,
    lengths,
    lower_of,
    names_of,
    operators,
    peaks,
    places,
    qualified_of,
    stems_of,
    unreduced,
    word,
    words_of,
)
from trueline.apitable.traits import Trait

ROWS = functions()
TABLE = tomllib.loads(resources.files("trueline.apitable").joinpath("functions.toml").read_text("utf-8"))


def test_no_field_of_the_file_is_overlooked() -> None:
    known = {one.name for one in fields(Function)} - {"key"}
    assert all(set(row) <= known for theme in TABLE.values() for row in theme.values())
    keys = [key for theme in TABLE.values() for key in theme]
    assert keys == [row.key for row in ROWS]
    assert len(keys) == len(set(keys)) >= 250


def test_every_trait_is_of_some_row() -> None:
    assert {trait for row in ROWS for trait in row.does} == set(Trait)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_agrees_with_itself(row: Function) -> None:
    names = (*row.names, *row.classes)
    assert names or row.full or row.stem
    assert len(names) == len(set(names)) and len(row.full) == len(set(row.full))
    assert all("." not in name for name in (*names, *row.stem)) and all("." in name for name in row.full)
    assert all(name[:1].isupper() for name in row.classes)
    assert not row.places or row.places[0] == "0"
    assert not (Trait.STOPS_GRADIENT in row.does and Trait.CUTS_GRADIENT not in row.does)
    assert not (Trait.SAME in row.does and Trait.VIEW in row.does), "what keeps its shape is no view"
    assert row.word == word(row.word)


def test_each_form_of_a_name_is_found() -> None:
    assert functions_of(Trait.CUTS_GRADIENT) >= {"detach", "item", "asnumpy"}
    assert names_of(Trait.CUTS_GRADIENT) - functions_of(Trait.CUTS_GRADIENT) == {"StopGradient"}
    assert words_of(Trait.STOPS_GRADIENT) == {"detach", "stopgradient"}
    assert "torch.tensor" in qualified_of(Trait.CUTS_GRADIENT)
    assert lower_of(Trait.MATMUL) >= {"matmul", "batchmatmul", "batch_matmul"}
    assert classes_of(Trait.RECURRENT) == {"LSTM", "GRU", "RNN"}
    assert "LazyConv2d".startswith(stems_of(Trait.CONV)) and not "Linear".startswith(stems_of(Trait.CONV))
    assert functions_of(Trait.VIEW, Trait.JOINS) == functions_of(Trait.VIEW) | functions_of(Trait.JOINS)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("concat", "cat"),
        ("Dense", "linear"),
        ("permute", "transpose"),
        ("BCELoss", "bce"),
        ("SoftmaxCrossEntropyWithLogits", "crossentropy"),
        ("my_function", "myfunction"),
        ("Loss", "loss"),
    ],
)
def test_functions_that_do_the_same_share_a_word(name: str, same: str) -> None:
    assert word(name) == same


def test_what_a_row_says_of_arguments() -> None:
    assert operators()["truedivide"] == "Div"
    assert places()["argmax"] == ("0", "dim", "keepdim")
    assert fills()["ones_like"] == 1
    assert ignored()["nll_loss"] == -100 and ignored()["SoftmaxCrossEntropyWithLogits"] is None
    assert unreduced()["mindspore.ops.smooth_l1_loss"] == 3
    assert peaks()["cosine_decay_lr"] == 1
    assert lengths()["OneCycleLR"] == (2, ("total_steps", "steps_per_epoch"))


def test_the_table_is_read_without_a_framework_and_only_when_it_is_asked() -> None:
    code = (
        "import sys; from trueline.apitable import functions as table, traits;"
        "assert table.functions.cache_info().currsize == 0;"
        "table.names_of(traits.Trait.SAME); table.names_of(traits.Trait.VIEW);"
        "assert table.functions.cache_info().misses == 1;"
        "assert not {'torch', 'mindspore', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
