"""Both sides' operators in one call of a block, on the benchmark's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from trueline.kernel.array import Array
from trueline.pair.ops.channels import laid_as
from trueline.pair.ops.op_graph import Graph
from trueline.pair.questions.blocks import Alteration, BlockSpec, InnerSpec, WatchOperators
from trueline.pair.sides.side import Side

_NOTHING: Final[Mapping[str, Array]] = MappingProxyType({})
_NONE_MADE: Final[Mapping[int, Array]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class InnerCall:
    """One call of a layer in a block that both sides have; ``outs`` is what the benchmark's gave.

    ``taken`` are the places of the port's inputs among the benchmark's, where it takes fewer or more: what the
    benchmark's does not take has places behind all that it does. ``shapes`` are those of what the port's gives, whose
    code may have the channels in another axis; ``like`` are those of what the benchmark's is given.
    """

    path: str
    other_path: str
    outs: Sequence[Array] | None = None
    taken: Sequence[int] | None = None
    shapes: Sequence[Sequence[int]] = ()
    like: Sequence[Sequence[int]] = ()

    def spec(self, *, of_port: bool) -> InnerSpec:
        """The call as one side is asked about it."""
        if of_port:
            outs = _laid(self.outs, self.shapes) if self.outs is not None else None
            return InnerSpec(self.path, self.other_path, outs, self.taken, self.like)
        return InnerSpec(self.other_path, self.other_path, self.outs, None, self.like)


@dataclass(frozen=True, slots=True)
class BlockCall:
    """One call of a block that both sides have: ``path`` is the port's, ``other_path`` the benchmark's.

    ``inputs`` are what the benchmark's was given; ``inner`` are the calls of layers in it, those of one layer in order.
    ``taken`` are the places of those inputs that the port's takes, where it does not take them all; ``shapes`` are
    those of the port's, ``masks`` the inputs of the port's that write a mask otherwise. ``like`` are the shapes of
    what the benchmark's gives out. ``first`` says for each input at which place the same tensor is given first.
    ``places`` are where the benchmark's go among all that the port's takes, where it takes more.
    """

    path: str
    other_path: str
    inputs: Sequence[Array]
    inner: Sequence[InnerCall] = ()
    call: int = 0
    other_call: int = 0
    train: bool = False
    taken: Sequence[int] | None = None
    shapes: Sequence[Sequence[int]] = ()
    masks: Mapping[int, Array] = field(default_factory=dict)
    like: Sequence[Sequence[int]] = ()
    first: Sequence[int] = ()
    places: Sequence[int] | None = None

    @property
    def nbytes(self) -> int:
        """How large the arrays are that go with a question about it."""
        known = (array for layer in self.inner for array in layer.outs or ())
        return sum(array.nbytes for array in (*self.inputs, *known))

    @property
    def outs(self) -> dict[str, Sequence[Array]]:
        """What each call of a layer in it gives, by the layer's name and the number of the call."""
        found: dict[str, Sequence[Array]] = {}
        for layer in self.inner:
            number = sum(name.rpartition("#")[0] == layer.other_path for name in found)
            found[f"{layer.other_path}#{number}"] = layer.outs or ()
        return found

    def spec(self, *, of_port: bool) -> BlockSpec:
        """The block as one side is asked about it."""
        inputs = self.inputs if self.taken is None or not of_port else [self.inputs[place] for place in self.taken]
        inner = [layer.spec(of_port=of_port) for layer in self.inner]
        if of_port:
            laid = _laid(inputs, self.shapes)
            given = [self.masks.get(place, array) for place, array in enumerate(laid)]
            return BlockSpec(self.path, self.call, given, inner, self.like)
        return BlockSpec(self.other_path, self.other_call, inputs, inner, self.like)


def _laid(arrays: Sequence[Array], shapes: Sequence[Sequence[int]]) -> list[Array]:
    """Arrays as the port has them, where its shapes are known; of a block with inputs of its own it knows itself."""
    if len(shapes) > len(arrays):
        return [*arrays]
    return [laid_as(array, shapes[place]) if place < len(shapes) else array for place, array in enumerate(arrays)]


def op_graphs(bench: Side, port: Side, block: BlockCall) -> tuple[Graph, Graph]:
    """The benchmark's graph and the port's; values beyond 64 MB are left out."""
    return op_graph(bench, block, of_port=False), op_graph(port, block, of_port=True)


def op_graph(
    side: Side,
    block: BlockCall,
    *,
    of_port: bool,
    alterations: Sequence[Alteration] = (),
    held: Mapping[str, Array] = _NOTHING,
    made: Mapping[int, Array] = _NONE_MADE,
) -> Graph:
    """One side's graph; with ``alterations`` some of its operators do otherwise, with ``held`` modules hold that.

    ``made`` is what operators of these numbers are to have made.
    """
    spec = block.spec(of_port=of_port)
    question = WatchOperators(spec, block.train, alterations=alterations, held=dict(held), made=dict(made))
    return side.answer(question)
