"""What no parameter of the whole feels is no fault, and what was not carried over is not judged."""

from __future__ import annotations

from pathlib import Path

import trueline
from trueline.pair.blame import Cause, Stage
from trueline.pair.grouping import grouped
from trueline.pair.pairing import Paired

_BENCH = """
import torch
from torch import nn


class GraphConv(nn.Module):
    def __init__(self, inner, out):
        super().__init__()
        self.lin = nn.Linear(inner, out, bias=False)
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x, adj):
        return adj @ self.lin(x) + self.bias


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 6)
        self.conv = GraphConv(6, 4)

    def forward(self, x, adj):
        return self.conv(torch.relu(self.first(x)), adj)


class ClassAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.q(x[:, :1]), self.k(x), self.v(x)
        return self.proj(torch.softmax(q @ k.transpose(1, 2) * 0.3, -1) @ v)


class Token(nn.Module):
    def __init__(self):
        super().__init__()
        self.tail = nn.ModuleList([ClassAttention(8)])
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.tail[0](x)[:, 0])
"""
_PORT = """
from mindspore import nn, ops


class Propagate(nn.Cell):
    def __init__(self, inner, out, stopped):
        super().__init__()
        self.dense = nn.Dense(inner, out)
        self.stopped = stopped

    def construct(self, x, adj):
        if self.stopped:
            x = ops.stop_gradient(x)
        return self.dense(ops.matmul(adj, x))


class Graph(nn.Cell):
    def __init__(self, stopped=False):
        super().__init__()
        self.first = nn.Dense(5, 6)
        self.last = Propagate(6, 4, stopped)

    def construct(self, x, adj):
        return self.last(ops.relu(self.first(x)), adj)


class Reading(nn.Cell):
    def __init__(self, width, scale):
        super().__init__()
        self.scale = scale
        self.q = nn.Dense(width, width)
        self.kv = nn.Dense(width, 2 * width)
        self.out = nn.Dense(width, width)

    def construct(self, x):
        k, v = ops.chunk(self.kv(x), 2, -1)
        scores = ops.matmul(self.q(x[:, :1]), k.swapaxes(1, 2)) * self.scale
        return self.out(ops.matmul(ops.softmax(scores, -1), v))


class Token(nn.Cell):
    def __init__(self, scale=0.3):
        super().__init__()
        self.reading = nn.CellList([Reading(8, scale)])
        self.head = nn.Dense(8, 3)

    def construct(self, x):
        return self.head(self.reading[0](x)[:, 0])
"""


def paired(folder: Path, name: str, inputs: list[str], **more: object) -> Paired:
    (folder / "bench.py").write_text(_BENCH, "utf-8")
    (folder / "port.py").write_text(_PORT, "utf-8")
    return trueline.pair(f"bench:{name}", f"port:{name}", inputs, folder=folder, steps=0, **more)


def found(answer: Paired) -> set[Cause]:
    blames = [blame for group in grouped(answer.blames).causes for blame in group.blames]
    return {blame.cause for blame in blames if blame.stage is not Stage.INITIAL}


def test_a_layer_that_does_its_part_before_or_after_the_block_is_no_fault(tmp_path: Path) -> None:
    assert found(paired(tmp_path, "Graph", ["7x5", "7x7"])) == set()


def test_a_gradient_that_parameters_lack_is_found_beside_it(tmp_path: Path) -> None:
    assert found(paired(tmp_path, "Graph", ["7x5", "7x7"], port_kwargs={"stopped": True}))


def test_pieces_of_a_fused_layer_take_the_same_input_also_beside_a_layer_of_their_shape(tmp_path: Path) -> None:
    answer = paired(tmp_path, "Token", ["2x4x8"])
    (weight, _) = answer.aligned.pieces
    assert weight.bench_paths(answer.aligned.bench) == ["tail.0.k.weight", "tail.0.v.weight"]
    assert answer.aligned.by_port_path["reading.0.out.weight"].bench_path == "tail.0.proj.weight"
    assert found(answer) == set()


def test_a_mistake_in_such_a_block_is_found(tmp_path: Path) -> None:
    assert Cause.SCALE in found(paired(tmp_path, "Token", ["2x4x8"], port_kwargs={"scale": 0.5}))
