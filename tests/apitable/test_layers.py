"""The laws of the table of layers, and the lookups in it; what the frameworks say of it is tested where they are."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import fields
from importlib import resources

import pytest

from trueline.apitable import Layer, keeps_torch_names, layer_of_class, layers

ROWS = list(layers().values())
each = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)


def test_no_field_of_the_file_is_overlooked() -> None:
    table = tomllib.loads(resources.files("trueline.apitable").joinpath("layers.toml").read_text("utf-8"))
    known = {one.name for one in fields(Layer)} - {"kind"}
    assert all(set(row) <= known for row in table.values())
    assert list(table) == list(layers())


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_a_class_is_of_one_kind(framework: str) -> None:
    names = [name for row in ROWS for name in getattr(row, framework)]
    assert len(names) == len(set(names))


@each
def test_a_row_agrees_with_itself(row: Layer) -> None:
    assert row.kind == row.kind.lower() and (row.leaves or row.children)
    ours = {*row.leaves, *row.only_torch}
    assert len(set(row.leaves.values())) == len(row.leaves), "two tensors of one name"
    assert len(set(row.children.values())) == len(row.children)
    assert not set(row.leaves) & set(row.only_torch)
    assert sorted(row.order) == sorted(row.leaves)
    assert row.statistics | row.optional <= ours
    assert {*row.inserted, *row.neutral, *row.older} <= set(row.leaves)
    assert set(row.only_mindspore) <= set(row.leaves.values())
    assert row.neutral.keys() <= row.optional, "MindSpore has it always, torch has not"


@each
def test_every_name_is_found_both_ways(row: Layer) -> None:
    for pattern, other in row.leaves.items():
        for number in ("0", "0_reverse", "12") if "*" in pattern else ("",):
            leaf, theirs = pattern.replace("*", number), other.replace("*", number)
            assert row.mindspore_leaf(leaf) == theirs
            assert row.torch_leaf(theirs) == leaf
    for leaf, others in row.older.items():
        assert {row.torch_leaf(name) for name in others} == {leaf}
    for leaf in row.only_torch:
        assert row.mindspore_leaf(leaf.replace("*", "0")) is None


@each
def test_every_class_leads_to_its_row(row: Layer) -> None:
    for name in row.torch:
        assert layer_of_class(f"torch.nn.{name}") is row
        assert layer_of_class(f"torch.nn.modules.any.{name}") is row
        assert layer_of_class(f"torch.nn.utils.parametrize.Parametrized{name}") is row
    for name in row.mindspore:
        assert layer_of_class(f"mindspore.nn.{name}") is row
        assert layer_of_class(f"mindspore.nn.layer.any.{name}") is row


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Linear",
        "mynet.layers.Linear",
        "mynet.torch.nn.Linear",
        "torch.nn.modules.container.Sequential",
        "torch.nn.modules.activation.ReLU",
        "torch.ao.nn.quantized.modules.linear.Linear",
        "mindspore.nn.layer.container.SequentialCell",
        "mindspore.mint.nn.layer.conv.Conv1d",
        "mindspore.nn.layer.basic.Linear",
        "mindspore.nn.layer.embedding.EmbeddingExt",
        "torch.nn.modules.basic.Dense",
        "mindspore.nn.layer.conv.ConvTranspose2d",
    ],
)
def test_no_row_for_containers_users_classes_and_others(name: str) -> None:
    assert layer_of_class(name) is None


def test_which_classes_keep_the_names_of_torch() -> None:
    for name in (
        "mint.nn.layer.conv.Conv1d",
        "mint.nn.Linear",
        "nn.layer.basic.Linear",
        "nn.layer.activation.PReLUExt",
    ):
        assert keeps_torch_names(f"mindspore.{name}")
    for name in (
        "mindspore.nn.layer.basic.Dense",
        "mindspore.nn.Conv1d",
        "torch.nn.Linear",
        "mynet.BlockExt",
        "Linear",
    ):
        assert not keeps_torch_names(name)


def test_recurrent_layers_are_listed_layer_by_layer_or_name_by_name() -> None:
    row = layers()["lstm"]
    here = ["weight_ih_l0", "bias_hh_l0", "weight_ih_l0_reverse", "weight_ih_l2", "weight_ih_l10", "bias_hh_l10"]
    assert row.in_torch_order(sorted(here)) == here
    assert row.in_mindspore_order(here) == [
        "weight_ih_l0",
        "weight_ih_l0_reverse",
        "weight_ih_l2",
        "weight_ih_l10",
        "bias_hh_l0",
        "bias_hh_l10",
    ]


@pytest.mark.parametrize(
    "leaf", ["", "*", "weight_ih_l", "weight_ih_l*", "weight_ih_l" + "9" * 5000, "weight_ih_l٣", "weight_ih_l0_back"]
)
def test_a_name_made_up_is_not_of_the_layer(leaf: str) -> None:
    row = layers()["lstm"]
    assert row.mindspore_leaf(leaf) is None and row.torch_leaf(leaf) is None
    assert row.in_torch_order([leaf, "weight_ih_l0"]) == row.in_mindspore_order([leaf, "weight_ih_l0"])


def test_the_table_is_not_to_be_written() -> None:
    with pytest.raises(TypeError):
        layers()["linear"].leaves["weight"] = "gamma"  # type: ignore[index]
    with pytest.raises(TypeError):
        layers()["own"] = layers()["linear"]  # type: ignore[index]


def test_it_needs_the_standard_library_only() -> None:
    program = (
        "import sys; from trueline.apitable import layers; layers();"
        "assert not {'numpy', 'torch', 'mindspore', 'click'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
