"""What two blocks are compared by: what their inner layers are given, and what they give out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.ops.additive_masks import masked_otherwise
from trueline.pair.ops.channels import is_laid_as, laid_as
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.input_mapping import given_again, is_unclear, own_places, taken
from trueline.pair.ops.mask_forms import Shown, hide_the_same, written_as
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.same_values import equal


@dataclass(frozen=True, slots=True)
class Sink:
    """One value on both sides: ``name`` is the layer's that is given it, "" that of the block's outputs."""

    name: str
    bench: int
    port: int
    line: Location | None = None
    other_line: Location | None = None


def sinks(bench: Graph, port: Graph) -> Iterator[Sink]:
    """What inner layers are given, and the outputs, on both sides."""
    port_calls = _calls(port)
    for place, op in _calls(bench).items():
        other = port_calls.get(place)
        if other is not None:
            for here, there in _pairs(bench, op, port, other):
                yield Sink(place[0], here, there, other.line, op.line)
    for here, there in zip(bench.outputs, port.outputs, strict=False):
        yield Sink("", here, there)


def in_other_words(sides: Beside, sink: Sink) -> bool:
    """Whether the port only has the channels elsewhere there, as its layer takes them, or another kind of mask."""
    here, there = sides.bench.array(sink.bench), sides.port.array(sink.port)
    if here is None or there is None:
        return False
    if hide_the_same(there, here) is Shown.ALIKE:
        return True
    return is_laid_as(here, there.shape) and equal(there, laid_as(here, there.shape), sides.floor)


def hide_otherwise(port: Array, bench: Array) -> bool:
    """Whether both are nothing but masks, of other places, each in its own form."""
    written = written_as(port, bench)
    return written is not None or masked_otherwise(port, bench)


def _pairs(bench: Graph, op: Op, port: Graph, other: Op) -> Iterator[tuple[int, int]]:
    """What both layers take, the benchmark's and the port's; nothing where types and shapes do not tell which it is."""
    kinds = [
        [(array.dtype.name, array.shape) for value in inputs if (array := graph.values[value]) is not None]
        for graph, inputs in ((bench, op.inputs), (port, other.inputs))
    ]
    whole = len(kinds[0]) == len(op.inputs) and len(kinds[1]) == len(other.inputs)
    places = given_again(op.inputs, other.inputs, (kinds[0], kinds[1])) if whole else None
    if places is not None or not whole or not is_unclear(*kinds):
        places = places or (taken(*kinds) if whole else None)
        own = own_places(*kinds) if whole and places is None else None
        here = op.inputs if places is None else [op.inputs[at] for at in places]
        yield from zip(here, other.inputs if own is None else [other.inputs[at] for at in own], strict=False)
        return
    for at, kind in enumerate(kinds[1]):
        # In order, as far as they are of one kind.
        if kinds[0][at] != kind:
            return
        yield op.inputs[at], other.inputs[at]


def _calls(graph: Graph) -> dict[tuple[str, int], Op]:
    calls: dict[tuple[str, int], Op] = {}
    for op in graph.ops:
        if op.module is not None:
            calls[op.module, sum(place[0] == op.module for place in calls)] = op
    return calls
