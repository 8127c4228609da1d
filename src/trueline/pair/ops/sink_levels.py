"""How far what a block gives out, and what it gives its layers, lies from the benchmark's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trueline.pair.ops.channels import laid_as
from trueline.pair.ops.mask_forms import Shown, hide_the_same
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.same_values import level


@dataclass(frozen=True, slots=True)
class Levels:
    """By the layer that is given it ("": the block's output), the number of its call, and the place."""

    levels: Mapping[tuple[str, int, int], float]

    def beyond(self, floor: float) -> set[tuple[str, int, int]]:
        """Those that lie further away."""
        return {sink for sink, level in self.levels.items() if not level <= floor}


def sink_levels(bench: Graph, port: Graph) -> Levels:
    """What goes into layers and out of the block, on both sides."""
    found: dict[tuple[str, int, int], float] = {}
    others = dict(_calls(port))
    for key, op in _calls(bench):
        other = others.get(key)
        if other is not None and len(other.inputs) == len(op.inputs):
            for place, pair in enumerate(zip(op.inputs, other.inputs, strict=True)):
                found[(*key, place)] = _apart(bench, port, *pair, inside=True)
    if len(bench.outputs) == len(port.outputs):
        for place, pair in enumerate(zip(bench.outputs, port.outputs, strict=True)):
            found["", 0, place] = _apart(bench, port, *pair)
    return Levels(found)


def _calls(graph: Graph) -> Iterator[tuple[tuple[str, int], Op]]:
    counts: dict[str, int] = {}
    for op in graph.ops:
        if op.module is not None:
            yield (op.module, counts.get(op.module, 0)), op
            counts[op.module] = counts.get(op.module, 0) + 1


def _apart(bench: Graph, port: Graph, there: int, here: int, *, inside: bool = False) -> float:
    """``inside``: a layer may be given its channels elsewhere, or its mask in another form."""
    mine, theirs = port.values[here], bench.values[there]
    if mine is None or theirs is None:
        return math.inf
    if inside and hide_the_same(mine, theirs) is Shown.ALIKE:
        return 0.0
    return level(mine, laid_as(theirs, mine.shape) if inside else theirs)
