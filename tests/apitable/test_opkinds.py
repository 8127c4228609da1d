"""The laws of the table of operators, and the lookups in it; what the frameworks tell is tested where they are."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from importlib import resources

import pytest

from trueline.apitable.opkinds import OpKind, op_kind, op_kinds

ROWS = list(op_kinds().values())


def test_no_field_of_the_file_is_overlooked() -> None:
    table = tomllib.loads(resources.files("trueline.apitable").joinpath("opkinds.toml").read_text("utf-8"))
    known = {one.name for one in fields(OpKind)} - {"kind"}
    assert all(set(row) <= known for row in table.values())
    assert list(table) == list(op_kinds())
    assert len(table) >= 120


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_a_name_is_of_one_kind_and_leads_to_it(framework: str) -> None:
    names = [(name.lower(), row.kind) for row in ROWS for name in getattr(row, framework)]
    assert len(names) == len(dict(names))
    assert all(op_kind(framework, name) == kind for name, kind in names)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_a_row_agrees_with_itself(row: OpKind) -> None:
    assert row.kind == row.kind.lower() and (row.torch or row.mindspore)
    assert all(name == name.lower() for name in row.mindspore)
    assert not (row.stops and not row.view), "what stops gradients leaves values as they are"


@pytest.mark.parametrize(
    ("framework", "name", "kind"),
    [
        ("torch", "relu_", "relu"),
        ("torch", "addmm", "linear"),
        ("torch", "_softmax", "softmax"),
        ("mindspore", "MatMul", "matmul"),
        ("mindspore", "matmul_ext", "matmul"),
        ("mindspore", "transpose_ext_view", "transpose"),
        ("mindspore", "inplace_relu", "relu"),
        ("mindspore", "BiasAdd", "add"),
        ("mindspore", "StopGradient", "stop_gradient"),
        ("mindspore", "NoSuchOperator", "nosuchoperator"),
        ("torch", "no_such_operator_", "no_such_operator_"),
    ],
)
def test_names_are_found_in_every_spelling(framework: str, name: str, kind: str) -> None:
    assert op_kind(framework, name) == kind


def test_what_only_moves_values_is_marked() -> None:
    views = {row.kind for row in ROWS if row.view}
    assert {"reshape", "transpose", "identity", "cast", "stop_gradient"} <= views
    assert not {"relu", "add", "cat"} & views
    assert {row.kind for row in ROWS if row.stops} == {"stop_gradient"}
