"""Both sides' operators in one call of a block, on the benchmark's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trueline.adapters.guest.wire import Content
from trueline.kernel.array import Array
from trueline.pair.ops.op_graph import Graph
from trueline.pair.sides.side import Side


@dataclass(frozen=True, slots=True)
class InnerCall:
    """One call of a layer in a block that both sides have; ``outs`` is what the benchmark's gave.

    ``taken`` are the places of the benchmark's inputs that the port's takes, where it does not take them all.
    """

    path: str
    other_path: str
    outs: Sequence[Array] | None = None
    taken: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class BlockCall:
    """One call of a block that both sides have: ``path`` is the port's, ``other_path`` the benchmark's.

    ``inputs`` are what the benchmark's was given; ``inner`` are the calls of layers in it, those of one layer in order.
    ``taken`` are the places of those inputs that the port's takes, where it does not take them all.
    """

    path: str
    other_path: str
    inputs: Sequence[Array]
    inner: Sequence[InnerCall] = ()
    call: int = 0
    other_call: int = 0
    train: bool = False
    taken: Sequence[int] | None = None

    def asked(self, want: str, *, of_port: bool) -> tuple[Content, list[Array]]:
        """The question to one side, and the arrays that go with it."""
        inputs = self.inputs if self.taken is None or not of_port else [self.inputs[place] for place in self.taken]
        content: Content = {
            "do": "watch_ops",
            "want": want,
            "path": self.path if of_port else self.other_path,
            "call": self.call if of_port else self.other_call,
            "train": self.train,
            "inputs": len(inputs),
            "opaque": [_opaque(one, of_port) for one in self.inner],
        }
        return content, [*inputs, *(array for one in self.inner for array in one.outs or ())]


def _opaque(inner: InnerCall, of_port: bool) -> dict[str, Any]:
    path = inner.path if of_port else inner.other_path
    outs = None if inner.outs is None else len(inner.outs)
    return {"path": path, "module": inner.other_path, "outs": outs, "taken": inner.taken if of_port else None}


def op_graphs(bench: Side, port: Side, block: BlockCall) -> tuple[Graph, Graph]:
    """The benchmark's graph and the port's; values beyond 64 MB are left out."""
    return op_graph(bench, block, of_port=False), op_graph(port, block, of_port=True)


def op_graph(side: Side, block: BlockCall, *, of_port: bool) -> Graph:
    """One side's graph."""
    told, arrays = side.ask(*block.asked("graph", of_port=of_port))
    return Graph.from_json(told["graph"], arrays)
