"""Faults beside others, lacking layers and coarse operators: what a block's operators say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from pair.op_blocks import both
from torch import nn

from trueline.pair.blame import Cause
from trueline.pair.ops.explaining import Explanation, explain_graphs
from trueline.pair.ops.op_graph import Graph

FLOOR = 1e-5
Forward = Callable[[Any, torch.Tensor], torch.Tensor]


class Block(nn.Module):
    """Layers to put code between."""

    def __init__(self, forward: Forward) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.a, self.b = nn.Linear(32, 32), nn.Linear(32, 32)
        self.gamma, self.beta = nn.Parameter(torch.randn(32)), nn.Parameter(torch.randn(32))
        self.ten = nn.Parameter(torch.randn(10))
        self.act_between = forward

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act_between(self, x)


def graphs(bench: Forward, port: Forward) -> tuple[Graph, Graph]:
    torch.manual_seed(5)
    return both(Block(bench), Block(port), torch.randn(2, 10, 32))


def explained(bench: Forward, port: Forward) -> list[Explanation]:
    return explain_graphs(*graphs(bench, port), FLOOR)


def test_another_operator_on_values_in_another_order_is_another_operator() -> None:
    (found,) = explained(
        lambda s, x: torch.sigmoid(s.a(x).mean(1, keepdim=True)) * x,
        lambda s, x: x + torch.sigmoid(s.a(x).mean(1, keepdim=True)),
    )
    assert (found.cause, found.confirmed) == (Cause.OTHER_OP, True)
    assert "mul" in found.message.text("en") and "add" in found.message.text("en")


def test_a_weight_that_is_not_turned_is_named_beside_another_scale() -> None:
    found = explained(
        lambda s, x: F.linear(torch.softmax(s.a(x) * 0.5, -1), s.b.weight, s.b.bias),
        lambda s, x: torch.softmax(s.a(x) * 0.25, -1) @ s.b.weight + s.b.bias,
    )
    assert {one.cause for one in found} == {Cause.SCALE, Cause.TRANSPOSE}
    assert all(one.confirmed for one in found)


def test_a_mask_the_wrong_way_round_is_a_fault_of_the_mask() -> None:
    def masked(turned: bool) -> Forward:
        def forward(s: Any, x: torch.Tensor) -> torch.Tensor:
            seen = (x[:, None, :, 0] > 0).float()
            return torch.softmax(s.a(x) @ x.mT + (seen if turned else 1.0 - seen) * -1e4, -1) @ x

        return forward

    (found,) = explained(masked(turned=False), masked(turned=True))
    assert (found.cause, found.confirmed) == (Cause.MASK, True)


NORMS: dict[str, Forward] = {
    "layer norm": lambda s, x: F.layer_norm(x, (32,), s.gamma, s.beta),
    "batch norm": lambda s, x: F.batch_norm(x, None, None, s.ten, s.ten, training=True),
}


@pytest.mark.parametrize("name", NORMS)
def test_a_norm_that_the_port_lacks_is_confirmed_by_what_the_benchmark_made_of_the_same_value(name: str) -> None:
    norm = NORMS[name]
    (found,) = explained(lambda s, x: s.b(norm(s, s.a(x))), lambda s, x: s.b(s.a(x)))
    assert (found.cause, found.confirmed) == (Cause.NORMALISATION, True)


def test_an_operator_that_one_framework_computes_coarsely_is_no_fault_and_hides_none() -> None:
    def forward(slope: float) -> Forward:
        return lambda s, x: torch.tanh(s.b(F.leaky_relu(s.a(x), slope)))

    def coarsely(graph: Graph) -> Graph:
        values = [None if one is None else one.copy() for one in graph.values]
        made = values[graph.outputs[0]]
        assert made is not None
        made += 1e-4
        return Graph(graph.ops, values, graph.inputs, graph.outputs, graph.names)

    bench, port = graphs(forward(0.1), forward(0.1))
    assert explain_graphs(bench, coarsely(port), FLOOR)
    assert explain_graphs(bench, coarsely(port), FLOOR, {"tanh": 3e-4}) == []
    bench, port = graphs(forward(0.1), forward(0.2))
    (found,) = explain_graphs(bench, coarsely(port), FLOOR, {"tanh": 3e-4})
    assert found.cause is Cause.SLOPE


def test_a_missing_product_beside_a_sum_is_no_sum_that_was_moved() -> None:
    (found,) = explained(
        lambda s, x: s.b(s.a(x) * torch.sigmoid(x.mean(1, keepdim=True)) + x),
        lambda s, x: s.b(s.a(x) + x),
    )
    assert (found.cause, found.confirmed) == (Cause.MISSING_OP, True)
    assert "mul" in found.message.text("en")


def test_another_operand_that_makes_a_value_both_have() -> None:
    (found,) = explained(
        lambda s, x: torch.softmax((x + s.gamma) @ s.a(x).mT + (x + s.beta) @ s.b(x).mT, -1) @ x,
        lambda s, x: torch.softmax((x + s.gamma) @ s.a(x).mT + (x + s.gamma) @ s.b(x).mT, -1) @ x,
    )
    assert found.cause is Cause.OTHER_INPUT
    assert "gamma" in found.message.text("en") and "beta" in found.message.text("en")


def test_a_scale_beside_a_mask_of_another_large_number_is_the_only_fault() -> None:
    def attention(s: Any, x: torch.Tensor) -> torch.Tensor:
        q, k = s.a(x).unsqueeze(1), x.unsqueeze(1)
        return s.b(F.scaled_dot_product_attention(q, k, k, is_causal=True).squeeze(1))

    def by_hand(s: Any, x: torch.Tensor) -> torch.Tensor:
        scores = s.a(x) @ x.mT / 32
        scores = scores.masked_fill(torch.ones(10, 10).triu(1).bool(), -1e9)
        return s.b(scores.softmax(-1) @ x)

    (found,) = explained(attention, by_hand)
    assert (found.cause, found.confirmed) == (Cause.SCALE, True)


def test_parts_that_are_joined_the_wrong_way_round_are_a_shift() -> None:
    def roll(x: torch.Tensor, by: int) -> torch.Tensor:
        x = torch.cat((x[:, -by:], x[:, :-by]), 1)
        return torch.cat((x[:, :, -by:], x[:, :, :-by]), 2)

    (found,) = explained(
        lambda s, x: s.b(torch.roll(s.a(x), (2, 2), (1, 2)) + x),
        lambda s, x: s.b(roll(s.a(x), -2) + x),
    )
    assert (found.cause, found.confirmed) == (Cause.OTHER_OP, True)
    assert "roll by" in found.message.text("en")
