"""A layer that is built otherwise than the benchmark's: the cause is named, proven by a try, and so is the edit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pair.layer_pairs import Layers, put_side_by_side

from trueline.pair.attributes.causes import find_causes
from trueline.pair.attributes.latent_causes import latent_causes
from trueline.pair.blame import Blame
from trueline.pair.questions.module_run import UNCHANGED, Change, RunModule

# What must be found in each layer, in training; the two frameworks' faulty layers need not be faulty in the same way.
FAULTS = {
    "conv_side": {"padding"},
    "conv_stride": {"stride"},
    "conv_dilation": {"dilation"},
    "conv_groups": {"groups"},
    "conv_bias": {"bias"},
    "conv1d_pad": {"padding"},
    "transposed": {"padding"},
    "bn_eps": {"eps"},
    "bn_momentum": {"momentum"},
    "gn_groups": {"groups"},
    "max_side": {"padding"},
    "max_stride": {"stride"},
    "max_ceil": {"ceil_mode"},
    "avg_count": {"count_include_pad"},
    "pool_type": {"pooling"},
    "gelu": {"gelu_form"},
    "slope": {"slope"},
    "relu": {"activation"},
    "swish": {"activation"},
    "softmax": {"axis"},
    "upsample": {"align_corners"},
    "lstm": {"batch_first"},
    "lstm_both": {"bidirectional"},
    "heads": {"num_heads"},
    "linear_bias": {"bias"},
    "scaled": {"scale"},
    "projection": {"weight_layout"},
    "cell": {"gate_order"},
    "norm_type": {"layer_type"},
}
LATENT = {"ln_eps": "eps", "relu6": "activation"}
EQUAL = [
    "conv_equal",
    "transposed_equal",
    "bn_equal",
    "ln_equal",
    "avg_equal",
    "softmax_equal",
    "gru_equal",
    "linear_equal",
    "dropout_equal",
]
ACROSS = ["torch-mindspore", "mindspore-torch"]
WITHIN = ["torch-torch", "mindspore-mindspore"]
Pair = tuple[Layers, Layers]


@pytest.fixture(scope="module")
def sides() -> Iterator[dict[str, Layers]]:
    found = {name: Layers(name) for name in ("torch", "mindspore")}
    yield found
    for one in found.values():
        one.side.close()


@pytest.fixture(params=ACROSS)
def pair(request: pytest.FixtureRequest, sides: dict[str, Layers]) -> Pair:
    bench, port = request.param.split("-")
    return sides[bench], sides[port]


@pytest.fixture(params=WITHIN)
def alike(request: pytest.FixtureRequest, sides: dict[str, Layers]) -> Pair:
    bench, port = request.param.split("-")
    return sides[bench], sides[port]


def _causes(found: list[Blame]) -> set[str]:
    return {str(one.cause) for one in found}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_confirmed(pair: Pair, name: str) -> None:
    _find(*pair, name)


@pytest.mark.parametrize("name", ["conv_groups", "bn_momentum", "max_stride", "relu", "scaled"])
def test_so_is_one_between_two_networks_of_one_framework(alike: Pair, name: str) -> None:
    _find(*alike, name)


def _find(bench: Layers, port: Layers, name: str) -> None:
    modules, reference = put_side_by_side(bench, port, name, train=True)
    found = find_causes(port.side, modules, reference)
    assert _causes(found) == FAULTS[name]
    for one in found:
        assert one.confirmed and one.edit is not None and one.module == f"wrong.{name}"
        assert one.left is not None and one.limit is not None and one.measured is not None
        assert one.left <= one.limit < one.measured
        assert one.line is not None and f"layers_{port.framework}.py:{one.line.line}" in one.edit.text("en")


def test_the_edit_is_what_a_user_would_type(sides: dict[str, Layers]) -> None:
    port = sides["mindspore"]
    modules, reference = put_side_by_side(sides["torch"], port, "max_side")
    (found,) = find_causes(port.side, modules, reference)
    assert found.edit is not None
    assert found.edit.text("en").endswith("pass pad_mode='pad', padding=1 to nn.MaxPool2d")
    assert "nn.MaxPool2d" in found.edit.text("zh")


def test_two_faults_in_one_layer_are_both_named(pair: Pair) -> None:
    bench, port = pair
    modules, reference = put_side_by_side(bench, port, "two_causes")
    found = find_causes(port.side, modules, reference)
    geometry = "padding" if port.framework == "mindspore" else "stride"
    assert _causes(found) == {geometry, "bias"} and all(one.confirmed for one in found)


def test_padding_that_no_argument_brings_is_a_border_around_the_input(sides: dict[str, Layers]) -> None:
    bench, port = sides["mindspore"], sides["torch"]
    for name in ("conv_side", "max_side"):
        modules, reference = put_side_by_side(bench, port, name, bench_of="wrong", port_of="right", train=True)
        (found,) = find_causes(port.side, modules, reference)
        assert found.confirmed and str(found.cause) == "padding" and found.edit is not None
        assert "(0, 1), (0, 1)" in found.edit.text("en")


def test_a_shorter_float_is_named(sides: dict[str, Layers]) -> None:
    port = sides["torch"]
    modules, reference = put_side_by_side(sides["torch"], port, "coarse")
    (found,) = find_causes(port.side, modules, reference)
    assert str(found.cause) == "dtype" and found.confirmed and found.port == "bfloat16"


@pytest.mark.parametrize("name", EQUAL)
def test_equal_layers_stay_silent(pair: Pair, name: str) -> None:
    bench, port = pair
    for train in (False, True):
        modules, reference = put_side_by_side(bench, port, name, train=train)
        assert find_causes(port.side, modules, reference) == []
    assert latent_causes(bench.side, port.side, [(modules, reference)]) == []


@pytest.mark.parametrize("name", LATENT)
def test_what_an_ordinary_input_hides_is_latent(pair: Pair, name: str) -> None:
    bench, port = pair
    modules, reference = put_side_by_side(bench, port, name)
    assert find_causes(port.side, modules, reference) == []
    (found,) = latent_causes(bench.side, port.side, [(modules, reference)])
    assert str(found.cause) == LATENT[name] and found.latent and found.confirmed


def test_padding_that_is_the_same_for_this_size_only_is_latent(sides: dict[str, Layers]) -> None:
    bench, port = sides["torch"], sides["mindspore"]
    modules, reference = put_side_by_side(bench, port, "conv_odd")
    assert find_causes(port.side, modules, reference) == []
    (found,) = latent_causes(bench.side, port.side, [(modules, reference)])
    assert str(found.cause) == "padding" and found.latent and found.confirmed
    known = {(found.module, found.cause)}
    assert latent_causes(bench.side, port.side, [(modules, reference)], known) == []


def test_a_dropout_that_drops_more_is_no_latent_fault(pair: Pair) -> None:
    bench, port = pair
    modules, reference = put_side_by_side(bench, port, "dropout")
    (found,) = latent_causes(bench.side, port.side, [(modules, reference)])
    assert str(found.cause) == "dropout" and found.confirmed and not found.latent
    assert (found.bench, found.port) == (0.1, 0.5)


def test_tries_leave_the_model_as_it_was(sides: dict[str, Layers]) -> None:
    for one in sides.values():
        _, reference = put_side_by_side(sides["torch"], one, "bn_eps", train=True)
        before = one.tensors("wrong.bn_eps")
        leaf = next(name for name in before if "var" in name)
        change = Change({"eps": 0.1}, tensors={leaf: np.ones(4, np.float32)})
        for changed in (UNCHANGED, change, Change(tensors={leaf: np.ones(4, np.float32)})):
            ran = one.side.answer(
                RunModule("wrong.bn_eps", reference.ins, train=True, gout=reference.gout, change=changed)
            )
            assert not ran.failed and ran.after and ran.grads
        after = one.tensors("wrong.bn_eps")
        assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_try_that_cannot_be_done_says_why(sides: dict[str, Layers]) -> None:
    for one in sides.values():
        inputs = [np.zeros((2, 4, 6, 6), np.float32)]
        ran = one.side.answer(RunModule("wrong.gn_groups", inputs, change=Change({"num_groups": 3})))
        assert "Error" in ran.failed and not ran.outputs
