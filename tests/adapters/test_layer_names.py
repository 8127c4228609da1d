"""Every row of the table of layers against both real frameworks: names, shapes, order, and equal outputs."""

from __future__ import annotations

from functools import cache
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from adapters.layer_pairs import (
    TWINS,
    Array,
    MindSporeNet,
    TorchNet,
    Twin,
    drawn,
    forward_mindspore,
    forward_torch,
)
from mindspore import mint, nn
from torch import nn as tn
from torch.nn.utils import parametrizations, spectral_norm, weight_norm

from trueline.apitable import Layer, keeps_torch_names, layer_of_class, layers

ROUNDING = 2e-6

each = pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)


def qualified(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def filled(net: tn.Module) -> dict[str, Array]:
    """The network's state, every value another: a swapped tensor or gate changes the output."""
    values = {}
    for place, (name, tensor) in enumerate(net.state_dict().items()):
        # Small: MindSpore's tanh on the CPU is off by 1e-5 beyond 3, and by 1e-4 at 5.
        values[name] = drawn(*tensor.shape, seed=place) * np.float32(0.25)
        if name.endswith("running_var"):
            values[name] = np.abs(values[name]) + np.float32(0.5)
        tensor.copy_(torch.from_numpy(np.asarray(values[name])))
    return {name: value for name, value in values.items() if not name.endswith("num_batches_tracked")}


def translated(net: tn.Module, name: str) -> tuple[str, int | None]:
    """MindSpore's name of a tensor of a torch network by the table alone, and the axis that it has more."""
    *path, leaf = name.split(".")
    parts: list[str] = []
    module = net
    for part in path:
        layer = layer_of_class(qualified(module))
        parts.append(layer.children.get(part, part) if layer else part)
        module = getattr(module, part)
    layer = layer_of_class(qualified(module))
    assert layer is not None, qualified(module)
    found = layer.mindspore_leaf(leaf)
    assert found is not None, f"{layer.kind} has no {leaf}"
    return ".".join((*parts, found)), layer.inserted.get(leaf)


@cache
def ported(twin: Twin) -> tuple[TorchNet, MindSporeNet, list[str]]:
    """Both networks with equal weights by the table, and what MindSpore has more."""
    torch.manual_seed(0)
    ours, theirs = TorchNet(twin.torch()), MindSporeNet(twin.mindspore())
    left = {parameter.name: parameter for parameter in theirs.get_parameters()}
    for name, value in filled(ours).items():
        there, axis = translated(ours, name)
        fitting = value if axis is None else np.expand_dims(value, axis)
        parameter = left.pop(there)
        assert tuple(parameter.shape) == fitting.shape, there
        parameter.set_data(ms.Tensor(fitting))
    return ours, theirs, list(left)


@each
def test_names_and_shapes_are_the_tables(twin: Twin) -> None:
    ours, theirs, left = ported(twin)
    row = layer_of_class(qualified(ours.layer))
    assert row is not None and row is layer_of_class(qualified(theirs.layer))
    excused = {row.leaves[leaf] for leaf in row.neutral} | set(row.only_mindspore)
    assert {name.removeprefix("layer.") for name in left} <= excused


@each
def test_what_mindspore_has_more_makes_no_difference(twin: Twin) -> None:
    _, theirs, left = ported(twin)
    row = layer_of_class(qualified(theirs.layer))
    assert row is not None
    held = {parameter.name: parameter.asnumpy() for parameter in theirs.get_parameters()}
    for name in left:
        leaf = row.torch_leaf(name.removeprefix("layer."))
        assert leaf is not None and set(held[name].flat) == {row.neutral[leaf]}


@each
def test_every_tensor_shows_in_the_output(twin: Twin) -> None:
    """Otherwise equal outputs would say nothing of it."""
    ours, _, _ = ported(twin)
    expected = forward_torch(ours, twin.inputs)
    for name, tensor in ours.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        kept = tensor.clone()
        tensor.mul_(1.5)
        changed = forward_torch(ours, twin.inputs)
        tensor.copy_(kept)
        assert max(np.abs(a - b).max() for a, b in zip(changed, expected, strict=True)) > 10 * ROUNDING, name


@each
def test_order_is_the_tables(twin: Twin) -> None:
    ours, theirs, _ = ported(twin)
    row = layer_of_class(qualified(ours.layer))
    assert row is not None
    here = [name for name in ours.layer.state_dict() if row.mindspore_leaf(name)]
    assert here == row.in_torch_order(reversed(here))
    names = [parameter.name.removeprefix("layer.") for parameter in theirs.get_parameters()]
    there = [leaf for name in names if (leaf := row.torch_leaf(name))]
    assert there == row.in_mindspore_order(reversed(there))


@each
def test_outputs_are_equal_within_rounding(twin: Twin) -> None:
    ours, theirs, _ = ported(twin)
    expected = forward_torch(ours, twin.inputs)
    if not twin.runs:
        with pytest.raises(RuntimeError, match="CPU"):
            forward_mindspore(theirs, twin.inputs)
        return
    found = forward_mindspore(theirs, twin.inputs)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert np.abs(one - other).max() <= ROUNDING * max(1.0, np.abs(other).max())


def test_every_class_of_the_table_is_built_here() -> None:
    built = {name for twin in TWINS for net in ported(twin)[:2] for name in parts(net)}
    rows = [row for row in layers().values() if row.torch and row.mindspore]
    assert {("torch", name) for row in rows for name in row.torch} <= built
    assert {("mindspore", name) for row in rows for name in row.mindspore} <= built


def parts(thing: Any) -> set[tuple[str, str]]:
    modules = thing.modules() if isinstance(thing, tn.Module) else [cell for _, cell in thing.cells_and_names()]
    return {(type(one).__module__.partition(".")[0], type(one).__name__) for one in modules}


def reserved(row: Layer, module: tn.Module) -> dict[str, Array]:
    """The tensors that stand for a module's weight, by MindSpore's name of them."""
    found = {row.mindspore_leaf(name): tensor.numpy() for name, tensor in module.state_dict().items()}
    assert None in found and set(found) - {None} == set(row.leaves.values()), "the bias is not of this row, all else is"
    return {name: value for name, value in found.items() if name is not None}


@pytest.mark.parametrize(
    ("kind", "older", "newer"),
    [
        ("weightnorm", weight_norm, parametrizations.weight_norm),
        ("spectralnorm", spectral_norm, parametrizations.spectral_norm),
    ],
)
@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
def test_both_ways_of_storing_a_normed_weight_are_one(kind: str, older: Any, newer: Any) -> None:
    before, after = tn.Linear(3, 4), tn.Linear(3, 4)
    after.load_state_dict(before.state_dict())
    torch.manual_seed(1)
    one = reserved(layers()[kind], older(before))
    torch.manual_seed(1)
    other = reserved(layers()[f"{kind}_parametrized"], newer(after))
    assert {name: value.shape for name, value in one.items()} == {name: value.shape for name, value in other.items()}
    trained = [name for name in one if name not in layers()[kind].statistics]
    for name in trained:
        np.testing.assert_array_equal(one[name], other[name])
    held = {name for name, _ in before.named_parameters()} - {"bias"}
    assert held == set(trained)
    assert layer_of_class(qualified(after)) is layers()["linear"]


@pytest.mark.parametrize(
    ("bench", "port"),
    [
        (lambda: tn.BatchNorm2d(2), lambda: mint.nn.BatchNorm2d(2)),
        (lambda: tn.LayerNorm(2), lambda: mint.nn.LayerNorm(2)),
        (lambda: tn.GroupNorm(1, 2), lambda: mint.nn.GroupNorm(1, 2)),
        (lambda: tn.Conv1d(2, 3, 4), lambda: mint.nn.Conv1d(2, 3, 4)),
        (lambda: tn.Conv2d(2, 3, 4), lambda: mint.nn.Conv2d(2, 3, 4)),
        (lambda: tn.ConvTranspose2d(2, 3, 4), lambda: mint.nn.ConvTranspose2d(2, 3, 4)),
        (lambda: tn.Linear(2, 3), lambda: mint.nn.Linear(2, 3)),
        (lambda: tn.Embedding(2, 3), lambda: mint.nn.Embedding(2, 3)),
        (lambda: tn.PReLU(), lambda: mint.nn.PReLU()),
    ],
)
def test_mint_keeps_torch_names_and_shapes(bench: Any, port: Any) -> None:
    ours, theirs = TorchNet(bench()), MindSporeNet(port())
    assert keeps_torch_names(qualified(theirs.layer)) and layer_of_class(qualified(theirs.layer)) is None
    assert {parameter.name: tuple(parameter.shape) for parameter in theirs.get_parameters()} == {
        name: tuple(tensor.shape) for name, tensor in ours.state_dict().items()
    }


@pytest.mark.parametrize("layer", [lambda: nn.BatchNorm2d(2), lambda: nn.PReLU(2), lambda: nn.InstanceNorm1d(2)])
def test_a_layer_that_is_the_whole_network_has_other_names(layer: Any, tmp_path: Any) -> None:
    cell = layer()
    path = str(tmp_path / "one.ckpt")
    ms.save_checkpoint(cell, path)
    row = layer_of_class(qualified(cell))
    assert row is not None
    found = [row.torch_leaf(name) for name in ms.load_checkpoint(path)]
    assert sorted(found, key=str) == sorted(row.leaves) and found == row.in_mindspore_order(row.leaves)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(nn.SequentialCell, "0.w"), (lambda one: nn.CellList([one]), "0.w"), (MindSporeNet, "layer.w")],
)
def test_prelu_in_a_checkpoint(kind: Any, expected: str, tmp_path: Any) -> None:
    path = str(tmp_path / "one.ckpt")
    ms.save_checkpoint(kind(nn.PReLU(2)), path)
    assert list(ms.load_checkpoint(path)) == [expected]
