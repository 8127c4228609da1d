"""Names find each other across frameworks and refactorings, and doubtful ones stay leftovers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.compare.align import Alignment, Item, Layout, Reason, Structure, align, align_keys
from trueline.model.finding import Certainty
from trueline.model.key import Key
from trueline.model.run import CallInfo

Shapes = Mapping[str, tuple[int, ...]]


def param(name: str, kind: str = "param") -> Key:
    return Key.of_parameter(name, kind)


def side(shapes: Shapes, types: Mapping[str, str] | None = None, calls: tuple[CallInfo, ...] = ()) -> Structure:
    return Structure([Item(param(name), shape) for name, shape in shapes.items()], types or {}, calls)


def paired(found: Alignment) -> dict[str, str]:
    return {pair.a.parameter: pair.b.parameter for pair in found.pairs}


def test_batchnorm_of_mindspore_finds_that_of_torch() -> None:
    torch = [
        param("bn.weight"),
        param("bn.bias"),
        param("bn.running_mean", "buffer"),
        param("bn.running_var", "buffer"),
        param("bn.num_batches_tracked", "buffer"),
    ]
    mindspore = [param("bn.moving_mean"), param("bn.moving_variance"), param("bn.gamma"), param("bn.beta")]
    found = align_keys(mindspore, torch)
    assert {pair.a.index: pair.b.index for pair in found.pairs} == {
        "gamma": "weight",
        "beta": "bias",
        "moving_mean": "running_mean",
        "moving_variance": "running_var",
    }
    assert {(pair.reason, pair.certainty) for pair in found.pairs} == {(Reason.LEAF, Certainty.CERTAIN)}
    assert [one.key.index for one in found.only_b] == ["num_batches_tracked"]
    assert not found.only_a


def test_pairs_come_in_the_order_of_the_benchmark() -> None:
    there = [param("b.weight"), param("a.weight"), param("c.weight")]
    assert [pair.b for pair in align_keys(sorted(there), there).pairs] == there


def test_embedding_and_optimizer_slots() -> None:
    mindspore = [
        param("words.embedding_table"),
        Key.of("bn", "opt", "gamma:moments"),
        Key.of("fc", "opt", "weight:moment1"),
        Key.of("fc", "opt", "weight:moment2"),
    ]
    torch = [
        param("words.weight"),
        Key.of("bn", "opt", "weight:momentum_buffer"),
        Key.of("fc", "opt", "weight:exp_avg"),
        Key.of("fc", "opt", "weight:exp_avg_sq"),
    ]
    found = align_keys(mindspore, torch)
    assert [pair.a for pair in found.pairs] == mindspore and [pair.b for pair in found.pairs] == torch


def test_optimizer_slots_of_a_checkpoint_stand_before_the_name() -> None:
    found = align(
        side({"fc.weight": (2, 2), "moments.fc.weight": (2, 2)}),
        side({"module.fc.weight": (2, 2), "moments.module.fc.weight": (2, 2)}),
    )
    assert paired(found) == {"fc.weight": "module.fc.weight", "moments.fc.weight": "moments.module.fc.weight"}


def test_a_wrapper_does_not_hide_the_network() -> None:
    wrapped = [Key.of("module.layer1.conv", "out"), param("network._backbone.bn.gamma")]
    plain = [Key.of("layer1.conv", "out"), param("bn.weight")]
    found = align_keys(wrapped, plain)
    assert [pair.reason for pair in found.pairs] == [Reason.PREFIX, Reason.PREFIX]
    assert {pair.certainty for pair in found.pairs} == {Certainty.CERTAIN}
    assert not found.only_a and not found.only_b
    assert found.renamed["bn"] == "network._backbone.bn"


@pytest.mark.parametrize("prefix", ["module.", "my_special_net.", "model.net.", "a.b.c."])
def test_any_prefix_is_found_by_what_is_equal_behind_it(prefix: str) -> None:
    names = [f"{block}.{layer}.{leaf}" for block in "xyz" for layer in ("0.conv", "fc") for leaf in ("weight", "bias")]
    found = align_keys([param(prefix + name) for name in names], [param(name) for name in names])
    assert paired(found) == {prefix + name: name for name in names}
    assert {pair.reason for pair in found.pairs} == {Reason.PREFIX}


def test_one_prefix_in_place_of_another() -> None:
    names = ["block.conv.weight", "block.conv.bias", "block.norm.weight", "last.weight"]
    found = align_keys([param("vision." + name) for name in names], [param("towers.image." + name) for name in names])
    assert len(found.pairs) == 4 and {pair.reason for pair in found.pairs} == {Reason.RENAMED}


def test_a_name_that_fits_two_stays_a_leftover() -> None:
    both = [param("block.gamma"), param("block.weight")]
    found = align_keys(both, [param("block.weight")])
    assert [pair.a.index for pair in found.pairs] == ["weight"]
    assert [one.key.index for one in found.only_a] == ["gamma"]
    two = [param("module.fc.weight"), param("network.fc.weight")]
    assert not align_keys(two, [param("fc.weight")]).pairs


def test_equal_shapes_in_equal_order_are_no_reason() -> None:
    here, there = ["head.weight", "tail.weight"], ["first.weight", "last.weight"]
    assert not align_keys(map(param, here), map(param, there)).pairs
    assert not align(side(dict.fromkeys(here, (4, 4))), side(dict.fromkeys(there, (4, 4)))).pairs


def test_two_equally_good_candidates_are_left_with_the_nearest() -> None:
    found = align(side({"neck.proj.weight": (4, 4)}), side({"x.proj.weight": (4, 4), "y.proj.weight": (4, 4)}))
    assert not found.pairs
    assert found.only_a[0].nearest in (param("x.proj.weight"), param("y.proj.weight"))
    assert 0.5 < found.only_a[0].likeness < 1


def test_values_decide_between_equally_good_candidates_and_never_against_names() -> None:
    here, there = side({"neck.proj.weight": (4, 4)}), side({"x.proj.weight": (4, 4), "y.proj.weight": (4, 4)})
    found = align(here, there, same=lambda a, b: b.module.startswith("y"))
    assert [(pair.b.parameter, pair.reason) for pair in found.pairs] == [("y.proj.weight", Reason.VALUES)]
    swapped = {"one.weight": (4, 4), "two.weight": (4, 4)}
    assert paired(align(side(swapped), side(swapped), same=lambda a, b: a != b)) == {name: name for name in swapped}


def test_what_is_left_in_one_parent_is_taken_in_order_and_called_possible() -> None:
    here = side({"z.weight": (8, 3), "s.weight": (8, 8), "m.weight": (8, 8), "head.weight": (2, 8)})
    there = side({"u.weight": (8, 3), "r.weight": (8, 8), "c.weight": (8, 8), "top.weight": (2, 8)})
    found = align(here, there)
    assert [pair.b.module for pair in found.pairs] == ["u", "r", "c", "top"]
    assert [pair.a.module for pair in found.pairs] == ["z", "s", "m", "head"]
    sure = [(pair.reason, pair.certainty) for pair in found.pairs]
    assert sure[0] == sure[3] == (Reason.RENAMED, Certainty.LIKELY)
    assert sure[1] == sure[2] == (Reason.ORDER, Certainty.POSSIBLE)


def test_another_sequence_is_not_taken_in_order() -> None:
    here = side({"z.weight": (8, 8), "s.weight": (4, 8), "m.weight": (8, 8), "a.weight": (4, 8)})
    there = side({"u.weight": (8, 8), "r.weight": (8, 8), "c.weight": (4, 8), "top.weight": (4, 8)})
    assert not align(here, there).pairs


def test_the_call_graph_tells_equal_modules_apart() -> None:
    """Two equal layers run in another order than they are listed: the edges decide."""
    shapes_a = {"inp.weight": (8, 3), "p.weight": (8, 8), "s.weight": (8, 8)}
    shapes_b = {"inp.weight": (8, 3), "y.weight": (8, 8), "g.weight": (8, 8)}
    calls_a = [CallInfo("inp", 0, "train"), CallInfo("p", 0, "train", None, [0]), CallInfo("s", 0, "train", None, [1])]
    calls_b = [CallInfo("inp", 0, "train"), CallInfo("g", 0, "train", None, [0]), CallInfo("y", 0, "train", None, [1])]
    found = align(side(shapes_a, calls=tuple(calls_a)), side(shapes_b, calls=tuple(calls_b)))
    assert paired(found) == {"inp.weight": "inp.weight", "p.weight": "g.weight", "s.weight": "y.weight"}
    assert {pair.certainty for pair in found.pairs if pair.a.module != "inp"} == {Certainty.LIKELY}


@pytest.mark.parametrize(
    ("here", "there", "layout"),
    [
        ((8, 4, 3), (8, 4, 1, 3), Layout.SQUEEZED),
        ((8, 4), (4, 8), Layout.TRANSPOSED),
        ((8, 4), (8, 4), Layout.SAME),
        ((), (1,), Layout.SQUEEZED),
    ],
)
def test_layouts(here: tuple[int, ...], there: tuple[int, ...], layout: Layout) -> None:
    found = align(side({"block.layer.weight": here}), side({"wrapped.block.layer.weight": there}))
    assert [pair.layout for pair in found.pairs] == [layout]


def test_contradicting_shapes_are_a_finding_under_equal_names_and_a_veto_otherwise() -> None:
    found = align(side({"fc.weight": (10, 8)}), side({"fc.weight": (1000, 8)}))
    assert [(pair.reason, pair.layout) for pair in found.pairs] == [(Reason.NAME, Layout.SAME)]
    assert not align(side({"head.weight": (10, 8)}), side({"classifier.weight": (1000, 8)})).pairs


def test_numbers_shifted_by_one_are_not_taken_for_equal_names() -> None:
    here = side({f"layers.{place}.weight": (4, 4) for place in range(12)})
    there = side({f"layers.{place + 1}.weight": (4, 4) for place in range(12)})
    found = align(here, there)
    assert paired(found) == {f"layers.{place}.weight": f"layers.{place + 1}.weight" for place in range(12)}
    assert {pair.certainty for pair in found.pairs} == {Certainty.LIKELY}


def test_a_layer_put_in_between_shifts_the_numbers_behind_it() -> None:
    widths = [3, 16, 32, 64, 64, 10]
    here = {f"{2 * n}.weight": (widths[n + 1], widths[n]) for n in range(5)}
    there = {"0.weight": (3, 3, 1, 1)} | {f"{2 * n + 2}.weight": (widths[n + 1], widths[n]) for n in range(5)}
    assert paired(align(side(here), side(there))) == {f"{2 * n}.weight": f"{2 * n + 2}.weight" for n in range(5)}


def test_a_longer_list_of_layers_keeps_its_numbers() -> None:
    here, there = ({f"layers.{place}.weight": (4, 4) for place in range(count)} for count in (6, 12))
    assert paired(align(side(here), side(there))) == {name: name for name in here}


def test_indices_against_names() -> None:
    here = {"features.0.weight": (16, 3, 3, 3), "features.3.weight": (32, 16, 3, 3), "classifier.1.weight": (10, 32)}
    there = {"conv1.weight": (16, 3, 3, 3), "conv2.weight": (32, 16, 3, 3), "fc.weight": (10, 32)}
    found = align(side(here), side(there))
    assert paired(found) == dict(zip(here, there, strict=True))
    assert {(pair.reason, pair.certainty) for pair in found.pairs} == {(Reason.RENAMED, Certainty.LIKELY)}


def test_a_wrapper_at_the_end() -> None:
    here = {"stem.conv.weight": (8, 3, 3, 3), "stem.bn.weight": (8,), "head.weight": (2, 8)}
    there = {"stem.conv.conv.weight": (8, 3, 3, 3), "stem.bn.bn.weight": (8,), "head.fc.weight": (2, 8)}
    assert paired(align(side(here), side(there))) == dict(zip(here, there, strict=True))


def test_a_missing_bias_does_not_keep_renamed_layers_apart() -> None:
    here = {"conv1.weight": (8, 3, 3, 3), "conv1.bias": (8,), "fc.weight": (2, 8)}
    there = {"stem.weight": (8, 3, 3, 3), "top.weight": (2, 8)}
    found = align(side(here), side(there))
    assert paired(found) == {"conv1.weight": "stem.weight", "fc.weight": "top.weight"}
    assert [one.key.parameter for one in found.only_a] == ["conv1.bias"]


def test_the_same_layers_nested_otherwise_are_the_same_part() -> None:
    """Every layer is found although others of its shape stand outside, in the other part, and under likelier names."""
    nested = {
        **_transform("first.", 3, ("a.0", "a.1", "b.0", "b.1", "out", "norm")),
        **_transform("second.", 8, ("a.0", "a.1", "b.0", "b.1", "out", "norm")),
        "block.0.weight": (16, 8),
        "block.1.weight": (16,),
        "fc.weight": (16, 16),
        "bn4.weight": (16,),
    }
    flat = {
        **_transform("one.", 3, ("conv1", "bn1", "conv2", "bn2", "fc", "bn3")),
        **_transform("two.", 8, ("conv1", "bn1", "conv2", "bn2", "fc", "bn3")),
        "conv2.weight": (16, 8),
        "bn2.weight": (16,),
        "classifier.0.weight": (16, 16),
        "classifier.1.weight": (16,),
    }
    found = align(side(nested, calls=_in_turn(nested)), side(flat, calls=_in_turn(flat)))
    assert paired(found) == dict(zip(nested, flat, strict=True))


def _transform(before: str, wide: int, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = [(8, wide), (8,), (16, 8), (16,), (16, 16), (16,)]
    return {f"{before}{name}.weight": shape for name, shape in zip(names, shapes, strict=True)}


def _in_turn(shapes: Shapes) -> tuple[CallInfo, ...]:
    """Each layer is fed by the one before."""
    paths = [name.rpartition(".")[0] for name in shapes]
    return tuple(CallInfo(path, 0, "eval", None, [place - 1] if place else []) for place, path in enumerate(paths))


def test_a_layer_is_found_in_a_block_of_its_name() -> None:
    found = align(
        side({"embed.weight": (8, 3, 2, 2), "embed.bias": (8,), "embed_norm.weight": (8,), "norm.weight": (16,)}),
        side(
            {
                "embed.proj.weight": (8, 3, 2, 2),
                "embed.proj.bias": (8,),
                "embed.norm.weight": (8,),
                "norm.weight": (16,),
            }
        ),
    )
    assert paired(found) == {
        "embed.weight": "embed.proj.weight",
        "embed.bias": "embed.proj.bias",
        "embed_norm.weight": "embed.norm.weight",
        "norm.weight": "norm.weight",
    }
    assert found.renamed["embed.proj"] == "embed"


def test_query_key_and_value_are_not_mixed_up_by_their_order() -> None:
    here = {f"attn.{name}_proj.weight": (8, 8) for name in "kqvo"}
    there = {f"attention.{name}.weight": (8, 8) for name in ("query", "key", "value", "out")}
    assert paired(align(side(here), side(there))) == {
        "attn.q_proj.weight": "attention.query.weight",
        "attn.k_proj.weight": "attention.key.weight",
        "attn.v_proj.weight": "attention.value.weight",
        "attn.o_proj.weight": "attention.out.weight",
    }


def test_types_that_contradict_are_a_veto() -> None:
    here = side({"x.weight": (8,), "x.bias": (8,)}, {"x": "torch.nn.modules.normalization.LayerNorm"})
    there = side({"y.gamma": (8,), "y.beta": (8,)}, {"y": "mindspore.nn.layer.normalization.BatchNorm2d"})
    assert not align(here, there).pairs
    fitting = side({"y.gamma": (8,), "y.beta": (8,)}, {"y": "mindspore.nn.layer.normalization.LayerNorm"})
    assert len(align(here, fitting).pairs) == 2


def test_outputs_keep_their_call_and_index() -> None:
    here = [Key.of("act", "out", call=0), Key.of("act", "out", call=1), Key.of("act", "in", 1, call=1)]
    found = align_keys(here, list(reversed(here)))
    assert {pair.a: pair.b for pair in found.pairs} == {key: key for key in here}


def test_outputs_follow_their_renamed_modules() -> None:
    def keys(first: str, activation: str, last: str) -> list[Item]:
        return [
            Item(param(f"{first}.weight"), (8, 3)),
            Item(Key.of(first, "out"), (2, 8)),
            Item(Key.of(activation, "out"), (2, 8)),
            Item(param(f"{last}.weight"), (4, 8)),
            Item(Key.of(last, "out"), (2, 4)),
            Item(Key.of(last, "gout"), (2, 4)),
        ]

    here = Structure(keys("inner.a", "inner.act", "inner.b"), {"inner.act": "torch.nn.modules.activation.ReLU"})
    there = Structure(keys("one", "rectify", "two"), {"rectify": "mindspore.nn.layer.activation.ReLU"})
    found = align(here, there)
    pairs = {pair.a.module: pair.b.module for pair in found.pairs}
    assert pairs["inner.a"] == "one" and pairs["inner.b"] == "two"
    assert sum(pair.a.kind in ("out", "gout") for pair in found.pairs) >= 3


NAMES = st.builds(
    lambda wrapper, module, leaf: param(".".join(part for part in (wrapper, module, leaf) if part)),
    st.sampled_from(["", "module", "network", "backbone", "x"]),
    st.sampled_from(["a", "b", "a.b", "a.0", "a.1", "fc"]),
    st.sampled_from(["weight", "gamma", "bias", "beta", "moving_mean", "running_mean"]),
)
ITEMS = st.dictionaries(NAMES, st.sampled_from([None, (2,), (2, 3), (3, 2), (4, 4)]))


@given(ITEMS, ITEMS)
def test_alignment_is_symmetric_and_loses_nothing(a: dict[Key, tuple[int, ...]], b: dict[Key, tuple[int, ...]]) -> None:
    here, there = (Structure([Item(key, shape) for key, shape in one.items()]) for one in (a, b))
    forth, back = align(here, there), align(there, here)
    assert {(pair.a, pair.b) for pair in forth.pairs} == {(pair.b, pair.a) for pair in back.pairs}
    assert sorted([pair.a for pair in forth.pairs] + [one.key for one in forth.only_a]) == sorted(a)
    assert sorted([pair.b for pair in forth.pairs] + [one.key for one in forth.only_b]) == sorted(b)


@given(st.lists(st.text(max_size=8), unique=True, max_size=8), st.lists(st.text(max_size=8), unique=True, max_size=8))
def test_any_text_may_be_a_name(a: list[str], b: list[str]) -> None:
    found = align(side(dict.fromkeys(a, (2,))), side(dict.fromkeys(b, (2,))))
    assert len(found.pairs) + len(found.only_a) == len(a)
    assert len(found.pairs) + len(found.only_b) == len(b)


def test_a_name_of_dots_ends() -> None:
    assert len(align(side({"." * 5000 + "w": (2,)}), side({"." * 5000 + "w": (2,)})).pairs) == 1
