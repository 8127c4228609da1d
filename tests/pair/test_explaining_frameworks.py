"""A torch benchmark and a MindSpore port, operator by operator: equal ones are silent, faults are named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import ops
from pair.op_blocks import recorded

from trueline.adapters.mindspore.ops import watch
from trueline.apitable.opkinds import op_kind
from trueline.pair.blame import Cause
from trueline.pair.ops.explaining import explain_graphs
from trueline.pair.ops.op_graph import Graph, Op

RANDOM = np.random.default_rng(1)
GIVEN = [RANDOM.standard_normal((2, 4, 10, 8)).astype(np.float32) for _ in range(3)]


class Attention(torch.nn.Module):
    """The benchmark."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(2, 10, 32)
        return torch.nn.functional.gelu(mixed + v.transpose(1, 2).reshape(2, 10, 32))


def attention(
    scale: float = 8**-0.5, axis: int = -1, approximate: str = "none", added: bool = True
) -> Callable[..., Any]:
    def port(q: Any, k: Any, v: Any) -> Any:
        scores = ops.BatchMatMul(transpose_b=True)(q, k)
        if scale != 1:
            scores = scores * scale
        mixed = ops.matmul(ops.softmax(scores, axis=axis), v)
        mixed = mixed.transpose(0, 2, 1, 3).reshape(2, 10, 32)
        if added:
            mixed = mixed + v.transpose(0, 2, 1, 3).reshape(2, 10, 32)
        if approximate == "none":
            return mixed * 0.5 * (1 + ops.erf(mixed / math.sqrt(2)))
        return ops.gelu(mixed, approximate=approximate)

    return port


def watched(function: Callable[..., Any]) -> Graph:
    """The port's graph."""
    values: list[np.ndarray | None] = []
    ids: dict[int, int] = {}
    alive: list[Any] = []
    seen: list[Op] = []

    def value(tensor: Any) -> int:
        if id(tensor) not in ids:
            alive.append(tensor)
            ids[id(tensor)] = len(values)
            values.append(tensor.asnumpy().copy())
        return ids[id(tensor)]

    given = [ms.Tensor(one) for one in GIVEN]
    inputs = tuple(value(one) for one in given)

    def tell(call: Any) -> None:
        kind = op_kind("mindspore", call.name)
        made = tuple(map(value, call.outputs))
        seen.append(Op(call.name, kind, tuple(map(value, call.inputs)), made, call.line))

    with watch(tell):
        output = function(*given)
    return Graph(seen, values, inputs, (value(output),))


@pytest.fixture(scope="module")
def bench() -> Graph:
    return recorded(Attention(), [torch.from_numpy(one) for one in GIVEN])[0]


def test_an_equal_port_is_silent(bench: Graph) -> None:
    assert explain_graphs(bench, watched(attention()), 1e-5) == []


@pytest.mark.parametrize(
    "port, causes",
    [
        (attention(scale=1), {Cause.SCALE}),
        (attention(axis=2), {Cause.AXIS}),
        (attention(approximate="tanh"), {Cause.GELU_FORM}),
        (attention(added=False), {Cause.RESIDUAL}),
        (attention(scale=1 / 8, approximate="tanh"), {Cause.SCALE, Cause.GELU_FORM}),
    ],
    ids=["no scale", "another axis", "GELU by tanh", "no sum", "two faults"],
)
def test_faults_of_a_port_are_named(bench: Graph, port: Callable[..., Any], causes: set[Cause]) -> None:
    found = explain_graphs(bench, watched(port), 1e-5)
    assert {one.cause for one in found} == causes
    assert all(one.confirmed and one.line is not None for one in found)
