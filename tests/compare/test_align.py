"""Names find each other across frameworks, and doubtful ones stay leftovers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trueline.compare.align import Reason, align
from trueline.model.key import Key


def param(name: str, kind: str = "param") -> Key:
    return Key.of_parameter(name, kind)


def paired(a: list[Key], b: list[Key]) -> dict[str, str]:
    return {str(pair.a): str(pair.b) for pair in align(a, b).pairs}


def test_batchnorm_of_mindspore_finds_that_of_torch() -> None:
    torch = [
        param("bn.weight"),
        param("bn.bias"),
        param("bn.running_mean", "buffer"),
        param("bn.running_var", "buffer"),
        param("bn.num_batches_tracked", "buffer"),
    ]
    mindspore = [param("bn.moving_mean"), param("bn.moving_variance"), param("bn.gamma"), param("bn.beta")]
    found = align(mindspore, torch)
    assert {pair.a.index: pair.b.index for pair in found.pairs} == {
        "gamma": "weight",
        "beta": "bias",
        "moving_mean": "running_mean",
        "moving_variance": "running_var",
    }
    assert {pair.reason for pair in found.pairs} == {Reason.LEAF}
    assert [key.index for key in found.only_b] == ["num_batches_tracked"]
    assert not found.only_a


def test_embedding_and_optimizer_slots() -> None:
    mindspore = [param("words.embedding_table"), Key.of("bn", "opt", "gamma:moments")]
    torch = [param("words.weight"), Key.of("bn", "opt", "weight:momentum_buffer")]
    assert len(paired(mindspore, torch)) == 2


def test_a_wrapper_does_not_hide_the_network() -> None:
    wrapped = [Key.of("module.layer1.conv", "out"), param("network._backbone.bn.gamma")]
    plain = [Key.of("layer1.conv", "out"), param("bn.weight")]
    found = align(wrapped, plain)
    assert [pair.reason for pair in found.pairs] == [Reason.WRAPPER, Reason.WRAPPER]
    assert not found.only_a and not found.only_b


def test_a_name_that_fits_two_stays_a_leftover() -> None:
    both = [param("block.gamma"), param("block.weight")]
    found = align(both, [param("block.weight")])
    assert [pair.a.index for pair in found.pairs] == ["weight"]
    assert [key.index for key in found.only_a] == ["gamma"]
    two = [param("module.fc.weight"), param("network.fc.weight")]
    assert not align(two, [param("fc.weight")]).pairs


def test_equal_shapes_in_equal_order_are_no_reason() -> None:
    assert not align([param("head.weight"), param("tail.weight")], [param("first.weight"), param("last.weight")]).pairs


def test_outputs_keep_their_call_and_index() -> None:
    here = [Key.of("act", "out", call=0), Key.of("act", "out", call=1)]
    assert paired(here, list(reversed(here))) == {str(key): str(key) for key in here}


NAMES = st.builds(
    lambda wrapper, module, leaf: param(".".join(part for part in (wrapper, module, leaf) if part)),
    st.sampled_from(["", "module", "network", "backbone"]),
    st.sampled_from(["a", "b", "a.b"]),
    st.sampled_from(["weight", "gamma", "bias", "beta", "moving_mean", "running_mean"]),
)


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True))
def test_alignment_is_symmetric_and_loses_nothing(a: list[Key], b: list[Key]) -> None:
    there, back = align(a, b), align(b, a)
    assert {(pair.a, pair.b) for pair in there.pairs} == {(pair.b, pair.a) for pair in back.pairs}
    assert sorted([pair.a for pair in there.pairs] + list(there.only_a)) == sorted(a)
    assert sorted([pair.b for pair in there.pairs] + list(there.only_b)) == sorted(b)
