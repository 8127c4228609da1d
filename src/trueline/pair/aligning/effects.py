"""What a block makes out of some of its tensors: the values that depend on them, operator by operator."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np

from trueline.compare.noise import epsilon
from trueline.kernel.array import Array
from trueline.pair.ops.op_graph import Graph
from trueline.pair.ops.same_values import equal, level, reordered

_SMALLEST: Final = 4
# Both sides are given the same values, and the operators in between are few.
_SAME: Final = 1e-4
_SAME_ROUNDINGS: Final = 16.0
# What other weights change by less than this says nothing of them.
_MOVED: Final = 1e-2


def own_values(graph: Graph, names: Collection[str]) -> list[int]:
    """The values that operators make out of tensors, directly, with what is no parameter."""
    pure = {value for value in graph.names if value not in graph.inputs}
    mine = {value for value in pure if graph.names[value] in names}
    made: list[int] = []
    for op in graph.ops:
        if op.module is not None or not mine & {*op.inputs}:
            pure |= {*op.outputs} if op.module is None and op.inputs and pure >= {*op.inputs} else set()
        elif pure >= {*op.inputs}:
            # A slice of a tensor, its exponential: still as good as the tensor.
            pure |= {*op.outputs}
            mine |= {*op.outputs}
        else:
            made += op.outputs
    return made


def behind(graph: Graph, values: Collection[int]) -> list[int]:
    """Some values, and what operators make out of them; what a layer makes is given, and says nothing."""
    found = dict.fromkeys(values)
    for op in graph.ops:
        if op.module is None and found.keys() & {*op.inputs}:
            found |= dict.fromkeys(op.outputs)
    return list(found)


def moved(graph: Graph, before: Graph, values: Collection[int]) -> Iterator[int]:
    """Those of some values that other weights had made otherwise; both graphs are of the same operators."""
    if [op.name for op in graph.ops] != [op.name for op in before.ops]:
        return
    wanted = {*values}
    for op, old in zip(graph.ops, before.ops, strict=True):
        for value, earlier in zip(op.outputs, old.outputs, strict=False):
            if value in wanted and _is_telling(now := graph.values[value]):
                then = before.values[earlier]
                if now is not None and then is not None and level(then, now) > _MOVED:
                    yield value


def known_on(graph: Graph, values: Sequence[int], other: Graph, others: Sequence[int]) -> list[int]:
    """Those of some values that the other side has too, whatever their shapes and the order of their axes."""
    by_size: dict[int, list[Array]] = {}
    for place in dict.fromkeys(others):
        array = other.values[place]
        if array is not None and _is_telling(array):
            by_size.setdefault(array.size, []).append(array)
    found = []
    for value in values:
        here = graph.values[value]
        if here is not None and any(_is_same(here, there) for there in by_size.get(here.size, ())):
            found.append(value)
    return found


def _is_same(here: Array, there: Array) -> bool:
    floor = max(_SAME, _SAME_ROUNDINGS * max(epsilon(here.dtype.name), epsilon(there.dtype.name)))
    return equal(here, there, floor) or reordered(here, there, floor) is not None


def _is_telling(array: Array | None) -> bool:
    return array is not None and array.size >= _SMALLEST and "float" in array.dtype.name and bool(np.ptp(array) > 0)
