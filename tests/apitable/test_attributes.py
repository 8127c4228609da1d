"""The table of arguments: its laws, and what the installed frameworks say of it."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tomllib
from importlib import resources

import pytest

from trueline.apitable.attributes import Attribute, KnownLayer, LayerKind, known_layer, layer_kinds
from trueline.apitable.forms import FORMS
from trueline.pair.blame import Cause

KINDS = list(layer_kinds().values())
# Says which of the asked-for arguments the classes of a framework lack.
_ASK = """
import inspect, json, sys
from {framework} import nn
lacking = []
for name, arguments in json.load(sys.stdin):
    found = getattr(nn, name, None)
    names = set(inspect.signature(found.__init__).parameters) if found is not None else set()
    lacking += [] if "args" in names else [[name, one] for one in arguments if one not in names]
print(json.dumps(lacking))
"""


def _torch(name: str) -> KnownLayer:
    found = known_layer(f"torch.nn.{name}")
    assert found is not None
    return found


def _mindspore(name: str) -> KnownLayer:
    found = known_layer(f"mindspore.nn.{name}")
    assert found is not None
    return found


def _needed(one: Attribute) -> bool:
    """Whether every class of the kind must have the argument."""
    return one.always and one.fixed is None


def test_no_field_of_the_file_is_overlooked() -> None:
    table = tomllib.loads(resources.files("trueline.apitable").joinpath("attributes.toml").read_text("utf-8"))
    of_kind = {"family", "torch", "mindspore", "positional", "has"}
    of_attribute = set(inspect.signature(Attribute).parameters) - {"name"}
    for row in table.values():
        assert set(row) <= of_kind
        assert all(set(one) <= of_attribute for one in row.get("has", {}).values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.kind)
def test_a_row_agrees_with_itself(kind: LayerKind) -> None:
    assert len(kind.torch) == len(kind.mindspore)
    for one in kind.has.values():
        assert one.form in FORMS and (one.torch or one.mindspore)
        assert not one.cause or one.cause in set(Cause)


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_every_argument_is_one_of_the_frameworks_class(framework: str) -> None:
    asked = [
        (name, [one.spelled(framework) for one in kind.has.values() if one.spelled(framework) and _needed(one)])
        for kind in KINDS
        for name in kind.classes(framework)
        if name and name != "NonDynamicallyQuantizableLinear"
    ]
    command = [sys.executable, "-c", _ASK.format(framework=framework)]
    told = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    assert json.loads(told.stdout.splitlines()[-1]) == []


def test_classes_are_known_by_their_whole_names() -> None:
    assert _torch("Conv2d").kind is _mindspore("Conv2d").kind
    assert known_layer("torch.nn.modules.conv.Conv2d") == _torch("Conv2d")
    mint = known_layer("mindspore.nn.layer.pooling.AvgPool2dExt")
    assert mint is not None and mint.flavour == "torch" and mint.framework == "mindspore" and mint.word == "AvgPool2d"
    assert known_layer("models.blocks.Conv2d") is None


def test_values_that_mean_the_same_read_the_same() -> None:
    pairs = [
        (_torch("BatchNorm2d"), {"momentum": 0.1}, _mindspore("BatchNorm2d"), {"momentum": 0.9}),
        (_torch("Dropout"), {"p": 0.3}, _mindspore("Dropout"), {"keep_prob": 0.7, "p": None}),
        (_torch("GELU"), {"approximate": "tanh"}, _mindspore("GELU"), {"approximate": True}),
        (_torch("LeakyReLU"), {"negative_slope": 0.2}, _mindspore("LeakyReLU"), {"alpha": 0.2}),
        (
            _torch("MaxPool2d"),
            {"kernel_size": 3, "stride": None},
            _mindspore("MaxPool2d"),
            {"kernel_size": (3, 3), "stride": 3},
        ),
        (
            _torch("LayerNorm"),
            {"normalized_shape": 6},
            _mindspore("LayerNorm"),
            {"normalized_shape": [6], "begin_norm_axis": -1},
        ),
    ]
    for there, torch_arguments, here, mindspore_arguments in pairs:
        assert there.read(torch_arguments, {}) == here.read(mindspore_arguments, {})


def test_positional_arguments_have_names() -> None:
    found = _mindspore("LSTM").read({"args": [3, 4, 2, False], "kwargs": {"batch_first": True}}, {})
    assert (found["num_layers"], found["bias"], found["batch_first"], found["bidirectional"]) == (2, False, True, False)


def test_a_value_is_written_as_the_framework_wants_it() -> None:
    assert _mindspore("Conv2d").written("padding", [[1, 1], [1, 1]]) == {"pad_mode": "pad", "padding": 1}
    assert _mindspore("Conv2d").written("padding", [[0, 1], [0, 1]]) == {"pad_mode": "pad", "padding": (0, 1, 0, 1)}
    assert _mindspore("Conv2d").written("padding", [[0, 0], [0, 0]]) == {"pad_mode": "valid", "padding": 0}
    assert _mindspore("MaxPool2d").written("padding", [[0, 1], [0, 1]]) is None
    assert _torch("Conv2d").written("padding", [[1, 1], [2, 2]]) == {"padding": (1, 2)}
    assert _torch("Conv2d").written("padding", [[0, 1], [0, 1]]) is None
    assert _mindspore("BatchNorm2d").written("momentum", 0.01) == {"momentum": 0.99}
    assert _torch("GELU").written("approximate", False) == {"approximate": "none"}
