"""One call of a block operator by operator, on the real frameworks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pair.gradient_sides import INPUT, block_call

from trueline.pair.ops.op_forms import recognised
from trueline.pair.ops.op_graph import Graph
from trueline.pair.ops.op_level import BlockCall, op_graph, op_graphs
from trueline.pair.questions.blocks import WatchOperators
from trueline.pair.sides.side import Side


@pytest.fixture(scope="module")
def bench(gradient_side: Callable[[str], Side]) -> Side:
    return gradient_side("torch_nets:bench")


@pytest.fixture(scope="module")
def port(gradient_side: Callable[[str], Side]) -> Side:
    return gradient_side("mindspore_nets:port")


@pytest.fixture(scope="module")
def graphs(bench: Side, port: Side) -> tuple[Graph, Graph]:
    return op_graphs(bench, port, block_call("plain"))


@pytest.fixture(scope="module")
def writing(bench: Side, port: Side) -> tuple[Graph, Graph]:
    return op_graphs(bench, port, block_call("writing"))


def _given(layer: int) -> np.ndarray:
    outs = block_call("plain").inner[layer].outs
    assert outs is not None
    return outs[0]


def test_both_frameworks_tell_the_same_ops_in_order(graphs: tuple[Graph, Graph]) -> None:
    for graph in graphs:
        assert [one.module or one.kind for one in graph.ops] == ["plain.first", "tanh", "mul", "plain.second", "add"]


def test_layers_give_what_is_known_of_them_and_ops_what_they_compute(graphs: tuple[Graph, Graph]) -> None:
    first, second = _given(0), _given(1)
    for graph in graphs:
        arrays = {one.module or one.kind: graph.values[one.outputs[0]] for one in graph.ops}
        np.testing.assert_array_equal(arrays["plain.first"], first)
        np.testing.assert_allclose(arrays["mul"], np.tanh(first) * 0.5, rtol=1e-5)
        np.testing.assert_allclose(arrays["add"], INPUT + second, rtol=1e-5)


def test_values_flow_from_op_to_op(graphs: tuple[Graph, Graph]) -> None:
    for graph in graphs:
        layer, tanh, mul, last, add = graph.ops
        (scale,) = (number for number, name in graph.names.items() if name == "plain.scale")
        assert layer.inputs == graph.inputs
        assert tanh.inputs == layer.outputs
        assert set(mul.inputs) == {*tanh.outputs, scale}
        assert last.inputs == mul.outputs
        assert set(add.inputs) == {*graph.inputs, *last.outputs}
        assert graph.outputs == add.outputs


def test_every_op_has_the_user_s_line_and_a_layer_the_line_it_was_built_on(graphs: tuple[Graph, Graph]) -> None:
    for graph, file in zip(graphs, ("torch_nets.py", "mindspore_nets.py"), strict=True):
        assert all(one.line is not None and one.line.file.endswith(file) for one in graph.ops)


def test_a_tensor_that_is_written_in_place_is_another_value(writing: tuple[Graph, Graph]) -> None:
    relu = np.maximum(_given(0), 0)
    written = np.array(relu)
    written[:, 0] = 0.25
    for graph in writing:
        (before,) = (one for one in graph.ops if one.kind == "relu")
        (layer,) = (one for one in graph.ops if one.module == "writing.second")
        np.testing.assert_array_equal(graph.values[before.outputs[0]], relu)
        np.testing.assert_array_equal(graph.values[layer.inputs[0]], written)
        assert before.outputs != layer.inputs


def test_settings_are_told(writing: tuple[Graph, Graph]) -> None:
    in_torch, in_mindspore = ({one.kind: one.settings for one in graph.ops} for graph in writing)
    assert in_torch["cat"]["dim"] == 1
    assert in_torch["mean"]["dim"] == [1]
    assert 1 in in_mindspore["cat"].values()
    assert 1 in in_mindspore["mean"].values()


@pytest.mark.parametrize("of_port", [False, True])
def test_without_known_layers_their_ops_and_parameters_are_told(bench: Side, port: Side, of_port: bool) -> None:
    graph = op_graph(port if of_port else bench, BlockCall("plain", "plain", [INPUT]), of_port=of_port)
    assert {"plain.first.weight", "plain.second.bias", "plain.scale"} <= set(graph.names.values())
    assert {"linear", "matmul"} & {one.kind for one in graph.ops}
    assert not any(one.module for one in graph.ops)


@pytest.mark.parametrize("of_port", [False, True])
def test_values_beyond_the_room_there_is_are_left_out_and_said(bench: Side, port: Side, of_port: bool) -> None:
    spec = block_call("plain").spec(of_port=of_port)
    graph = (port if of_port else bench).answer(WatchOperators(spec, train=False, max_bytes=3 * INPUT.nbytes))
    kept = [value for value in graph.values if value is not None]
    assert 0 < len(kept) < len(graph.values)
    assert sum(value.nbytes for value in kept) <= 3 * INPUT.nbytes


def test_values_that_only_spread_over_each_other_are_not_computed_whole() -> None:
    weight, scale = np.ones((512, 256, 1, 1), np.float32), np.ones((512, 256), np.float32)
    assert recognised("mul", [weight, scale], weight, 1e-5) is None
