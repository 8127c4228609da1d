"""Layers are followed into containers, through copies, and by functions that are applied to them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from trueline.script.reading.elements import layers_in, registered_in
from trueline.script.roles import Role
from trueline.script.script import Script, read_script
from trueline.script.trace import REPEATED
from trueline.script.values import Attribute, Const, Derived, Instance, Made, Table

HEAD = """
import copy
import torch
from torch import nn
"""


def read(folder: Path, text: str) -> Script:
    """One file, with the imports that all of these need."""
    path = folder / "train.py"
    path.write_text(HEAD + dedent(text), "utf-8")
    return read_script([path])


def called(script: Script) -> list[str]:
    """The layers that are called, in order."""
    return [one.name.rpartition(".")[0].rpartition(".")[2] for one in script.trace.of_role(Role.FORWARD)]


def test_layers_of_a_container_are_indexed_and_added_to(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        layers = nn.ModuleList([nn.Linear(2, 2)])
        layers.append(nn.ReLU())
        layers[0](layers[1](torch.ones(2)))
        """,
    )
    assert called(script) == ["ReLU", "Linear"]


def test_a_chain_of_the_projects_own_calls_what_it_was_given(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        class Block(nn.Sequential):
            def __init__(self, width):
                super().__init__(nn.Linear(width, width), nn.ReLU())

        Block(4)(torch.ones(4))
        """,
    )
    assert called(script) == ["Sequential", "Linear", "ReLU"]
    inner = [one for one in script.trace.of_role(Role.FORWARD) if one.in_chain]
    assert [one.name for one in inner] == ["torch.nn.Linear.__call__", "torch.nn.ReLU.__call__"]


def test_a_copy_has_layers_of_its_own(tmp_path: Path) -> None:
    script = read(
        tmp_path, "net = nn.Sequential(nn.Linear(2, 2))\nother = copy.deepcopy(net)\nother(net(torch.ones(2)))"
    )
    layers = [one.receiver for one in script.trace.named("torch.nn.Linear.__call__")]
    assert len(layers) == 2
    assert layers[0] is not layers[1]


def test_a_layer_in_a_list_many_times_is_taken_down(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        layer = nn.Linear(2, 2)
        stars = [layer] * 3
        same = [layer for _ in range(3)]
        appended = []
        for _ in range(3):
            appended.append(layer)
        fine = [nn.Linear(2, 2) for _ in range(3)]
        also = [copy.deepcopy(layer) for _ in range(3)]
        kept = [one for one in fine]
        """,
    )
    assert [one.place.line for one in script.trace.named(REPEATED)] == [7, 8, 11]


def test_a_function_is_applied_to_every_layer_and_kinds_are_decided(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        def start(layer):
            name = layer.__class__.__name__
            if isinstance(layer, (nn.Linear, nn.Conv2d)):
                nn.init.normal_(layer.weight)
            elif name.find("BatchNorm") != -1:
                nn.init.ones_(layer.weight)

        net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU())
        net.apply(start)
        """,
    )
    (normal,) = script.trace.named("torch.nn.init.normal_")
    (ones,) = script.trace.named("torch.nn.init.ones_")
    assert isinstance(normal.args[0], Attribute)
    assert isinstance(normal.args[0].of, Made)
    assert normal.args[0].of.name == "torch.nn.Linear"
    assert isinstance(ones.args[0], Attribute)
    assert isinstance(ones.args[0].of, Made)
    assert ones.args[0].of.name == "torch.nn.BatchNorm1d"


def test_what_a_network_knows_as_its_own(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        class Net(nn.Module):
            def __init__(self, names):
                super().__init__()
                self.add_module("first", nn.Linear(2, 2))
                for name in names:
                    setattr(self, name, nn.Bilinear(2, 2, 2))
                self.hidden = [nn.Embedding(2, 2)]

        net = Net(open("names"))
        """,
    )
    (made,) = [one.receiver for one in script.trace.events if one.method == "__new__"]
    assert isinstance(made, Instance)
    known = {one.name for one in registered_in(made) if isinstance(one, Made)}
    assert known == {"torch.nn.Linear", "torch.nn.Bilinear"}
    assert layers_in(made) is None


def test_parameters_behind_unknown_keywords_are_not_their_defaults(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        def forward(inputs, labels=None):
            return torch.add(inputs, labels)

        forward(torch.ones(2), **torch.load("batch"))
        """,
    )
    (added,) = script.trace.named("torch.add")
    assert not isinstance(added.args[1], Const)


def test_keys_of_a_comprehension_are_kept_and_numbers_divided(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        print({f"module.{name}": value for name, value in torch.load("file").items()})
        print(torch.ones(2) / 4)
        """,
    )
    renamed, divided = (one.args[0] for one in script.trace.named("builtins.print"))
    assert isinstance(renamed, Table)
    assert isinstance(renamed.key, Derived)
    assert renamed.key.op == "text"
    assert isinstance(divided, Derived)
    assert divided.op == "Div"


def test_layers_of_a_dict_are_attributes_of_it(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        parts = nn.ModuleDict(dict(first=nn.Linear(2, 2), rest=nn.ModuleList([nn.ReLU(), nn.Tanh()])))
        x = parts.first(torch.ones(2))
        for part in parts.rest:
            x = part(x)
        """,
    )
    assert called(script) == ["Linear", "ReLU", "Tanh"]
