"""Both sides' operators in one call of a block, on the benchmark's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueline.kernel.array import Array
from trueline.pair.ops.op_graph import Graph
from trueline.pair.questions.blocks import Alteration, BlockSpec, InnerSpec, WatchOperators
from trueline.pair.sides.side import Side


@dataclass(frozen=True, slots=True)
class InnerCall:
    """One call of a layer in a block that both sides have; ``outs`` is what the benchmark's gave.

    ``taken`` are the places of the port's inputs among the benchmark's, where it takes fewer or more: what the
    benchmark's does not take has places behind all that it does.
    """

    path: str
    other_path: str
    outs: Sequence[Array] | None = None
    taken: Sequence[int] | None = None

    def spec(self, *, of_port: bool) -> InnerSpec:
        """The call as one side is asked about it."""
        if of_port:
            return InnerSpec(self.path, self.other_path, self.outs, self.taken)
        return InnerSpec(self.other_path, self.other_path, self.outs, None)


@dataclass(frozen=True, slots=True)
class BlockCall:
    """One call of a block that both sides have: ``path`` is the port's, ``other_path`` the benchmark's.

    ``inputs`` are what the benchmark's was given; ``inner`` are the calls of layers in it, those of one layer in order.
    ``taken`` are the places of those inputs that the port's takes, where it does not take them all; ``places`` where
    they go among all that the port's takes, where it takes more.
    """

    path: str
    other_path: str
    inputs: Sequence[Array]
    inner: Sequence[InnerCall] = ()
    call: int = 0
    other_call: int = 0
    train: bool = False
    taken: Sequence[int] | None = None
    places: Sequence[int] | None = None

    @property
    def nbytes(self) -> int:
        """How large the arrays are that go with a question about it."""
        known = (array for layer in self.inner for array in layer.outs or ())
        return sum(array.nbytes for array in (*self.inputs, *known))

    def spec(self, *, of_port: bool) -> BlockSpec:
        """The block as one side is asked about it."""
        inputs = self.inputs if self.taken is None or not of_port else [self.inputs[place] for place in self.taken]
        inner = [layer.spec(of_port=of_port) for layer in self.inner]
        if of_port:
            return BlockSpec(self.path, self.call, inputs, inner, self.places)
        return BlockSpec(self.other_path, self.other_call, inputs, inner)


def op_graphs(bench: Side, port: Side, block: BlockCall) -> tuple[Graph, Graph]:
    """The benchmark's graph and the port's; values beyond 64 MB are left out."""
    return op_graph(bench, block, of_port=False), op_graph(port, block, of_port=True)


def op_graph(side: Side, block: BlockCall, *, of_port: bool, alterations: Sequence[Alteration] = ()) -> Graph:
    """One side's graph; with ``alterations`` some of its operators do otherwise."""
    return side.answer(WatchOperators(block.spec(of_port=of_port), block.train, alterations=alterations))
