"""Real networks of both frameworks: what is the same is known by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mindspore
import pytest
import torch
from compare import aligned_mindspore as ported
from compare import aligned_torch as original

from trueline.compare.align import Alignment, Item, Layout, Reason, Structure, align
from trueline.model.finding import Certainty
from trueline.model.key import Key

NORM = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}


def truth(torch_side: Structure, path: Callable[[str], str], norms: Callable[[str], bool]) -> dict[str, str]:
    """MindSpore's name of every tensor of torch's that has one."""
    found = {}
    for item in torch_side.items:
        module, leaf = item.key.module, item.key.index
        if leaf != "num_batches_tracked":
            leaf = NORM[leaf] if norms(module) else leaf
            found[f"{path(module)}.{leaf}".lstrip(".")] = item.key.parameter
    return found


def paired(found: Alignment) -> dict[str, str]:
    return {pair.a.parameter: pair.b.parameter for pair in found.pairs}


def is_norm(module: str) -> bool:
    last = module.rpartition(".")[2]
    return last.startswith(("bn", "norm")) or module.endswith("downsample.1")


def by_order_and_shape(a: Structure, b: Structure) -> dict[str, str]:
    """What many scripts do: the next tensor of the same shape."""
    left = [item for item in a.items if item.key.index != "num_batches_tracked"]
    found = {}
    for item in b.items:
        match = next((one for one in left if one.shape == item.shape and item.key.index != "num_batches_tracked"), None)
        if match is not None:
            left.remove(match)
            found[match.key.parameter] = item.key.parameter
    return found


@pytest.fixture(scope="module", params=[18, 50])
def resnets(request: pytest.FixtureRequest) -> tuple[Structure, Structure, Structure]:
    depth = request.param
    return (
        original.state(original.ResNet(depth)),
        ported.checkpoint(ported.ResNet(depth)),
        ported.checkpoint(ported.Refactored(depth)),
    )


def test_order_and_shape_are_wrong_on_a_resnet_and_names_are_right(
    resnets: tuple[Structure, Structure, Structure],
) -> None:
    there, here, _ = resnets
    right = truth(there, lambda path: path, is_norm)
    naive = by_order_and_shape(here, there)
    wrong = [name for name, other in naive.items() if right[name] != other]
    # It succeeds on every single tensor, and says nothing.
    assert len(naive) == len(right) and len(wrong) > len(right) / 3
    found = align(here, there)
    assert paired(found) == right
    assert {pair.reason for pair in found.pairs} == {Reason.NAME, Reason.LEAF}
    assert {pair.certainty for pair in found.pairs} == {Certainty.CERTAIN}
    assert {one.key.index for one in found.only_b} == {"num_batches_tracked"} and not found.only_a


def test_a_refactored_resnet_is_found_whole(resnets: tuple[Structure, Structure, Structure]) -> None:
    there, _, here = resnets
    right = truth(there, ported.refactored_path, is_norm)
    naive = by_order_and_shape(here, there)
    assert sum(right[name] != other for name, other in naive.items()) > len(right) / 3
    found = align(here, there)
    assert paired(found) == right
    assert {pair.certainty for pair in found.pairs} == {Certainty.LIKELY}
    assert {one.key.index for one in found.only_b} == {"num_batches_tracked"} and not found.only_a
    assert found.renamed["layer2"] == "backbone.layers.1"


def test_the_same_from_the_other_side(resnets: tuple[Structure, Structure, Structure]) -> None:
    there, _, here = resnets
    assert {b: a for a, b in paired(align(there, here)).items()} == truth(there, ported.refactored_path, is_norm)


def test_a_transformer() -> None:
    there = original.state(original.Transformer())
    right = truth(
        there, lambda path: path.replace("linear1", "dense1").replace("linear2", "dense2"), lambda path: "norm" in path
    )
    right["embedding.embedding_table"] = right.pop("embedding.weight")
    assert paired(align(ported.checkpoint(ported.Transformer()), there)) == right


@pytest.mark.parametrize("typed", [False, True])
def test_recurrent_layers(typed: bool) -> None:
    here = ported.checkpoint(ported.Recurrent(), typed=typed)
    there = original.state(original.Recurrent(), typed=typed)
    right = {item.key.parameter: item.key.parameter for item in there.items}
    right["words.embedding_table"] = right.pop("words.weight")
    right["slope.w"] = right.pop("slope.weight")
    found = align(here, there)
    assert paired(found) == right
    assert [pair.a.module for pair in found.pairs if pair.layout is Layout.SQUEEZED] == ["time"]


@pytest.mark.parametrize("typed", [False, True])
def test_a_vision_transformer_written_by_somebody_else(typed: bool) -> None:
    here = ported.checkpoint(ported.VisionTransformer(), typed=typed)
    there = original.state(original.VisionTransformer(), typed=typed)
    found = align(here, there)
    right = truth(there, ported.vision_path, lambda path: "norm" in path)
    assert {name: right[name] for name in paired(found)} == paired(found)
    assert paired(found) == right


def test_an_optimizer_s_moments_in_a_checkpoint_follow_their_parameters() -> None:
    net = ported.Recurrent()
    here = ported.checkpoint(mindspore.nn.Momentum(net.trainable_params(), 0.1, 0.9))
    plain = original.state(original.Recurrent())
    moments = [
        Item(Key.of(item.key.module, "opt", f"{item.key.index}:momentum_buffer"), item.shape) for item in plain.items
    ]
    found = align(here, Structure([*plain.items, *moments]))
    assert not found.only_b
    assert {one.key.parameter for one in found.only_a} == {"global_step", "learning_rate", "momentum"}
    assert {pair.a.parameter: pair.b.index for pair in found.pairs}["moments.slope.w"] == "weight:momentum_buffer"


MEANINGLESS: Mapping[str, str] = {
    "conv1": "w",
    "bn1": "e",
    "conv2": "p",
    "bn2": "k",
    "downsample": "u",
    "layer1": "zeta",
    "layer2": "phi",
    "layer3": "tau",
    "layer4": "mu",
    "fc": "omega",
}


def meaningless(path: str) -> str:
    return ".".join(MEANINGLESS.get(part, part) for part in path.split("."))


def test_names_that_mean_nothing_are_found_by_the_graph() -> None:
    batch = torch.randn(1, 3, 32, 32)
    there = original.recorded(original.ResNet(18, 8), batch)
    here = original.recorded(original.ResNet(18, 8, MEANINGLESS), batch)
    found = align(here, there)
    assert paired(found) == {
        f"{meaningless(item.key.module)}.{item.key.index}": item.key.parameter for item in there.items
    }
    assert {pair.certainty for pair in found.pairs} == {Certainty.LIKELY}


def test_a_network_in_another_s_data_parallel_and_compiled_wrappers() -> None:
    there = original.state(original.ResNet(18, 8))
    wrapped = torch.nn.DataParallel(original.ResNet(18, 8))
    compiled = torch.nn.Module()
    compiled._orig_mod = wrapped
    found = align(original.state(compiled), there)
    assert paired(found) == {f"_orig_mod.module.{item.key.parameter}": item.key.parameter for item in there.items}
    assert {(pair.reason, pair.certainty) for pair in found.pairs} == {(Reason.PREFIX, Certainty.CERTAIN)}


def test_a_head_for_other_classes_is_still_the_head_behind_a_prefix() -> None:
    there = original.state(original.ResNet(18, 8))
    net = original.ResNet(18, 8)
    net.fc = torch.nn.Linear(64, 1000)
    found = align(original.state(torch.nn.ModuleDict({"encoder": net})), there)
    assert paired(found)["encoder.fc.weight"] == "fc.weight"
