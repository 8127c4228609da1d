"""Faults in the code between layers are named, all of them, with both lines; equal blocks stay silent."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from pair.op_blocks import both
from torch import nn

from trueline.pair.blame import Cause, Stage
from trueline.pair.ops.divergence import part
from trueline.pair.ops.explaining import Explanation, explain_graphs
from trueline.pair.ops.op_graph import Graph
from trueline.pair.questions.question import pack, unpack

FLOOR = 1e-5
Forward = Callable[[Any, torch.Tensor], torch.Tensor]


class Block(nn.Module):
    """Layers to put code between."""

    def __init__(self, forward: Forward) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.conv1, self.conv2 = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.qkv, self.proj = nn.Linear(32, 96), nn.Linear(32, 32)
        self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
        self.a, self.b, self.head = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 5)
        self.gamma, self.place = nn.Parameter(torch.randn(32)), nn.Parameter(torch.randn(1, 10, 32))
        self.act_between = forward

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act_between(self, x)


def explained(bench: Forward, port: Forward, shape: tuple[int, ...] = (2, 10, 32)) -> list[Explanation]:
    torch.manual_seed(5)
    return explain_graphs(*both(Block(bench), Block(port), torch.randn(shape)), FLOOR)


def residual(s: Any, x: torch.Tensor) -> torch.Tensor:
    return F.relu(s.bn(s.conv2(F.relu(s.conv1(x)))) + x)


def transformer(s: Any, x: torch.Tensor) -> torch.Tensor:
    batch, tokens, width = x.shape
    q, k, v = s.qkv(s.norm1(x)).reshape(batch, tokens, 3, 4, 8).permute(2, 0, 3, 1, 4)
    x = x + s.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, width))
    return x + s.down(F.gelu(s.up(s.norm2(x))))


def composed(
    scale: float = 8**-0.5,
    axis: int = -1,
    turned: bool = True,
    gelu: str = "erf",
    causal: bool = False,
    first_input: bool = False,
    order: str = "qkv",
) -> Forward:
    """The transformer block step by step, as a port writes it, with places for faults."""

    def forward(s: Any, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        parts = s.qkv(s.norm1(x)).reshape(batch, tokens, 3, 4, 8).permute(2, 0, 3, 1, 4)
        named = dict(zip(order, (parts[0], parts[1], parts[2]), strict=True))
        scores = named["q"] @ named["k"].transpose(-2, -1)
        scores = scores * scale if scale != 1 else scores
        if causal:
            scores = scores.masked_fill(torch.ones(tokens, tokens).triu(1).bool(), float("-inf"))
        mixed = scores.softmax(axis) @ named["v"]
        mixed = mixed.transpose(1, 2) if turned else mixed
        y = x + s.proj(mixed.reshape(batch, tokens, width))
        h = s.up(s.norm2(y))
        if gelu == "erf":
            h = h * 0.5 * (1 + torch.erf(h / math.sqrt(2)))
        else:
            h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
        return (x if first_input else y) + s.down(h)

    return forward


EQUAL: dict[str, tuple[Forward, Forward]] = {
    "a composed attention and GELU": (transformer, composed()),
    "masks of other values": (
        lambda s, x: (x @ x.mT).masked_fill(torch.eye(10).bool(), float("-inf")).softmax(-1) @ x,
        lambda s, x: (x @ x.mT + torch.eye(10) * -1e9).softmax(-1) @ x,
    ),
    "a function and its operators": (
        lambda s, x: F.linear(F.normalize(s.a(x), dim=-1), s.b.weight, s.b.bias) * 2,
        lambda s, x: 2 * (s.b.bias + (lambda y: y / y.norm(dim=-1, keepdim=True))(s.a(x)) @ s.b.weight.t()),
    ),
    "another order of a sum and of axes": (
        lambda s, x: x + s.a(x.transpose(0, 1)).transpose(0, 1),
        lambda s, x: s.a(x.permute(1, 0, 2).contiguous()).permute(1, 0, 2) + x,
    ),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_blocks_of_other_operators_stay_silent(name: str) -> None:
    assert explained(*EQUAL[name]) == []


RESIDUAL: dict[str, tuple[Forward, set[Cause]]] = {
    "no first ReLU": (lambda s, x: F.relu(s.bn(s.conv2(s.conv1(x))) + x), {Cause.ACTIVATION}),
    "no sum": (lambda s, x: F.relu(s.bn(s.conv2(F.relu(s.conv1(x))))), {Cause.RESIDUAL}),
    "ReLU before the sum": (lambda s, x: F.relu(s.bn(s.conv2(F.relu(s.conv1(x))))) + x, {Cause.ORDER}),
    "a leaky ReLU": (lambda s, x: F.relu(s.bn(s.conv2(F.leaky_relu(s.conv1(x), 0.2))) + x), {Cause.ACTIVATION}),
    "one ReLU too many": (lambda s, x: F.relu(s.bn(F.relu(s.conv2(F.relu(s.conv1(x))))) + x), {Cause.ACTIVATION}),
    "the sum with a layer's output": (
        lambda s, x: (lambda y: F.relu(s.bn(s.conv2(F.relu(y))) + y))(s.conv1(x)),
        {Cause.RESIDUAL},
    ),
    "two faults": (lambda s, x: F.relu(s.bn(s.conv2(F.silu(s.conv1(x))))), {Cause.ACTIVATION, Cause.RESIDUAL}),
    "a factor and no sum": (
        lambda s, x: F.relu(s.bn(s.conv2(F.relu(s.conv1(x))) * 0.5)),
        {Cause.SCALE, Cause.RESIDUAL},
    ),
}


@pytest.mark.parametrize("name", RESIDUAL)
def test_faults_of_a_residual_block(name: str) -> None:
    port, causes = RESIDUAL[name]
    found = explained(residual, port, (2, 8, 12, 12))
    assert {one.cause for one in found} == causes
    assert all(one.confirmed for one in found)
    assert len(found) == len(causes)


TRANSFORMER: dict[str, tuple[Forward, set[Cause]]] = {
    "no scale": (composed(scale=1), {Cause.SCALE}),
    "another scale": (composed(scale=1 / 8), {Cause.SCALE}),
    "softmax over another axis": (composed(axis=-2), {Cause.AXIS}),
    "heads not turned back": (composed(turned=False), {Cause.TRANSPOSE}),
    "GELU by tanh": (composed(gelu="tanh"), {Cause.GELU_FORM}),
    "a causal mask": (composed(causal=True), {Cause.MASK}),
    "the first input in the second sum": (composed(first_input=True), {Cause.RESIDUAL}),
    "query and key swapped": (composed(order="kqv"), {Cause.OTHER_INPUT}),
    "no scale, another axis": (composed(scale=1, axis=-2), {Cause.SCALE, Cause.AXIS}),
    "three faults": (
        composed(scale=1, gelu="tanh", first_input=True),
        {Cause.SCALE, Cause.GELU_FORM, Cause.RESIDUAL},
    ),
}


@pytest.mark.parametrize("name", TRANSFORMER)
def test_faults_of_a_transformer_block(name: str) -> None:
    port, causes = TRANSFORMER[name]
    found = explained(transformer, port)
    assert {one.cause for one in found} == causes
    assert all(one.confirmed for one in found)
    assert len(found) == len(causes)


def test_a_lacking_scale_is_read_from_the_width_of_a_head() -> None:
    (found,) = explained(transformer, composed(scale=1))
    assert "1/sqrt(8)" in found.message.text("en")
    assert found.bench == pytest.approx(8**-0.5, rel=1e-4)
    assert found.sink == "proj"


OTHERS: dict[str, tuple[Forward, Forward, Cause]] = {
    "concat in another order": (
        lambda s, x: s.down(torch.cat([s.a(x), s.b(x)], -1)),
        lambda s, x: s.down(torch.cat([s.b(x), s.a(x)], -1)),
        Cause.CONCAT_ORDER,
    ),
    "no layer scale": (lambda s, x: x + s.gamma * s.a(x), lambda s, x: x + s.a(x), Cause.SCALE),
    "a sum before a position encoding": (
        lambda s, x: (x + s.place) + s.a(s.norm1(x + s.place)),
        lambda s, x: x + s.a(s.norm1(x + s.place)),
        Cause.RESIDUAL,
    ),
    "a norm after the mean": (
        lambda s, x: s.head(s.norm1(x).mean(1)),
        lambda s, x: s.head(s.norm1(x.mean(1))),
        Cause.ORDER,
    ),
    "the mean for the first token": (
        lambda s, x: s.head(s.a(x)[:, 0]),
        lambda s, x: s.head(s.a(x).mean(1)),
        Cause.SLICE,
    ),
    "the last token for the first": (
        lambda s, x: s.head(s.a(x)[:, 0]),
        lambda s, x: s.head(s.a(x)[:, -1]),
        Cause.SLICE,
    ),
    "the maximum for the mean": (
        lambda s, x: s.head(s.a(x).mean(1)),
        lambda s, x: s.head(s.a(x).amax(1)),
        Cause.POOLING,
    ),
    "no L2 norm": (lambda s, x: s.head(F.normalize(s.a(x), dim=-1)), lambda s, x: s.head(s.a(x)), Cause.NORMALISATION),
    "an L2 norm over another axis": (
        lambda s, x: s.head(F.normalize(s.a(x), dim=-1)),
        lambda s, x: s.head(F.normalize(s.a(x), dim=1)),
        Cause.AXIS,
    ),
    "another eps in a composed norm": (
        lambda s, x: F.layer_norm(x * 0.01, (32,), s.gamma, s.gamma, 1e-5),
        lambda s, x: (
            (lambda y: (y - y.mean(-1, keepdim=True)) / (y.var(-1, unbiased=False, keepdim=True) + 1e-3).sqrt())(
                x * 0.01
            )
            * s.gamma
            + s.gamma
        ),
        Cause.EPS,
    ),
    "a way through float16": (
        lambda s, x: s.head(torch.sigmoid(s.a(x))),
        lambda s, x: s.head(torch.sigmoid(s.a(x).half().float())),
        Cause.DTYPE,
    ),
    "another added constant": (
        lambda s, x: s.head(s.a(x) + 0.5),
        lambda s, x: s.head(s.a(x) + 0.25),
        Cause.OFFSET,
    ),
    "no mask": (
        lambda s, x: (x @ x.mT).masked_fill(torch.eye(10).bool(), float("-inf")).softmax(-1) @ x,
        lambda s, x: (x @ x.mT).softmax(-1) @ x,
        Cause.MASK,
    ),
    "zeros for a mask": (
        lambda s, x: (x @ x.mT).masked_fill(torch.eye(10).bool(), float("-inf")).softmax(-1) @ x,
        lambda s, x: (x @ x.mT).masked_fill(torch.eye(10).bool(), 0.0).softmax(-1) @ x,
        Cause.MASK,
    ),
    "reshape without transpose": (
        lambda s, x: s.a(x.transpose(1, 2).reshape(x.shape)),
        lambda s, x: s.a(x.reshape(x.shape)),
        Cause.TRANSPOSE,
    ),
    "no reverse": (lambda s, x: s.a(x.flip(1)), lambda s, x: s.a(x), Cause.TRANSPOSE),
    "a shift the other way": (
        lambda s, x: s.a(torch.roll(x, 2, 1)),
        lambda s, x: s.a(torch.roll(x, -2, 1)),
        Cause.OTHER_OP,
    ),
    "a product for a sum": (lambda s, x: s.a(x) + s.b(x), lambda s, x: s.a(x) * s.b(x), Cause.OTHER_OP),
    "no gate": (lambda s, x: s.b(s.a(x) * torch.sigmoid(x)), lambda s, x: s.b(s.a(x)), Cause.MISSING_OP),
    "a biased deviation": (
        lambda s, x: s.a(x / x.std(-1, keepdim=True)),
        lambda s, x: s.a(x / x.std(-1, unbiased=False, keepdim=True)),
        Cause.OTHER_OP,
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_faults_between_layers(name: str) -> None:
    bench, port, cause = OTHERS[name]
    (found,) = explained(bench, port)
    assert found.cause is cause
    assert found.confirmed


def test_an_explanation_names_both_lines_and_the_change_in_both_languages() -> None:
    def port(s: Any, x: torch.Tensor) -> torch.Tensor:
        hidden = s.conv1(x)
        hidden = F.relu6(hidden * 8)
        return F.relu(s.bn(s.conv2(hidden)) + x)

    def bench(s: Any, x: torch.Tensor) -> torch.Tensor:
        return F.relu(s.bn(s.conv2(F.relu(s.conv1(x) * 8))) + x)

    (found,) = explained(bench, port, (2, 8, 12, 12))
    blame = found.blame(Stage.FORWARD, "layer1.0", "layer1.0", FLOOR)
    here, there = inspect.getsourcelines(port)[1] + 2, inspect.getsourcelines(bench)[1] + 1
    assert blame.line is not None and blame.other_line is not None and blame.edit is not None
    assert (Path(blame.line.file).name, blame.line.line) == (Path(__file__).name, here)
    assert blame.other_line.line == there
    assert (blame.bench, blame.port) == ("relu", "relu6")
    for lang in ("en", "zh"):
        text = blame.edit.text(lang)
        assert "ReLU6" in text and f"{Path(__file__).name}:{here}" in text and f":{there}" in text


def test_a_function_that_no_form_knows_is_a_suspect_with_its_lines() -> None:
    (found,) = explained(
        lambda s, x: s.conv2(F.avg_pool2d(F.relu(s.conv1(x)), 2)),
        lambda s, x: s.conv2(F.max_pool2d(F.relu(s.conv1(x)), 2)),
        (2, 8, 12, 12),
    )
    assert found.cause is Cause.POOLING
    assert not found.confirmed
    assert found.line is not None and found.other_line is not None


def test_values_that_were_not_kept_are_no_reason_to_fail() -> None:
    bench, port = both(Block(residual), Block(RESIDUAL["no sum"][0]), torch.randn(2, 8, 12, 12))
    values = [None if op == 6 else one for op, one in enumerate(port.values)]
    thin = Graph(port.ops, values, port.inputs, port.outputs, port.names)
    assert part(bench, thin, FLOOR)


def test_a_graph_survives_the_way_between_two_processes() -> None:
    graph, _ = both(Block(residual), Block(residual), torch.randn(1, 8, 6, 6))
    content, arrays = pack(graph)
    again = unpack(Graph, json.loads(json.dumps(content)), arrays)
    assert again.ops == list(graph.ops)
    for here, there in zip(again.values, graph.values, strict=True):
        assert there is None if here is None else np.array_equal(here, there)
    assert (again.inputs, again.outputs, dict(again.names)) == (graph.inputs, graph.outputs, dict(graph.names))
    with pytest.raises(ValueError, match="array"):
        unpack(Graph, content, arrays[1:])
    with pytest.raises(ValueError, match="not there"):
        Graph(graph.ops, graph.values[:1], graph.inputs, graph.outputs)
