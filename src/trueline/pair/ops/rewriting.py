"""The same operators in the same pieces: what one framework fuses is split into what the other does step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.same_values import Floats, equal, floats
from trueline.pair.ops.whole_forms import softmax

_SPLIT: Final = frozenset({"linear", "addmm", "matmul", "attention", "layer_norm", "conv"})


class _Split:
    """A graph that grows."""

    def __init__(self, graph: Graph, floor: float) -> None:
        self.values = list(graph.values)
        self.floor = floor
        self.ops: list[Op] = []

    def array(self, value: int) -> Array | None:
        return self.values[value]

    def op(self, like: Op, kind: str, inputs: tuple[int, ...], made: Array) -> int:
        """A further op with a value of its own; that value's id."""
        self.values.append(made)
        self.ops.append(replace(like, kind=kind, inputs=inputs, outputs=(len(self.values) - 1,), settings={}))
        return len(self.values) - 1

    def last(self, like: Op, kind: str, inputs: tuple[int, ...]) -> None:
        """The op that makes what the split one made."""
        self.ops.append(replace(like, kind=kind, inputs=inputs, settings={}))


def split(graph: Graph, floor: float) -> Graph:
    """The graph with fused operators in pieces."""
    split = _Split(graph, floor)
    for op in graph.ops:
        if op.module is None and op.kind in _SPLIT and _kept(graph, op) and _pieces(split, op):
            continue
        split.ops.append(op)
    return replace(graph, ops=split.ops, values=split.values)


def _kept(graph: Graph, op: Op) -> bool:
    return all(graph.values[value] is not None for value in (*op.inputs, *op.outputs[:1]))


def _pieces(split: _Split, op: Op) -> bool:
    arrays = [array for value in op.inputs if (array := split.array(value)) is not None]
    made = split.array(op.outputs[0])
    if made is None:
        return False
    with np.errstate(all="ignore"):
        if op.kind == "attention":
            return _attention(split, op, arrays, made)
        if op.kind == "layer_norm":
            return _layer_norm(split, op, arrays, made)
        if op.kind == "matmul" and len(arrays) == 2:
            return _matmul(split, op, (op.inputs[0], op.inputs[1]), made, last=True) is not None
        return _linear(split, op, arrays, made)


def _matmul(split: _Split, op: Op, given: tuple[int, int], made: Array, *, last: bool) -> int | None:
    """A product whose second factor is turned by an op of its own, where the operator itself did that."""
    first, second = split.array(given[0]), split.array(given[1])
    if first is None or second is None or min(first.ndim, second.ndim) < 2:
        return None
    turned = np.swapaxes(second, -1, -2)
    if _product_is(first, second, made, split.floor) or not _product_is(first, turned, made, split.floor):
        return None
    there = split.op(op, "transpose", (given[1],), np.ascontiguousarray(turned))
    if last:
        split.last(op, "matmul", (given[0], there))
        return op.outputs[0]
    return split.op(op, "matmul", (given[0], there), made)


def _product_is(first: Array, second: Array, made: Array, floor: float) -> bool:
    try:
        return equal(np.matmul(first, second), made, floor)
    except ValueError:
        return False


def _linear(split: _Split, op: Op, arrays: list[Array], made: Array) -> bool:
    """A product and an added bias; the bias is the input of one axis (a convolution keeps its product as it is)."""
    biases = [at for at, array in enumerate(arrays) if array.ndim == 1]
    if len(arrays) != 3 or len(biases) != 1:
        return False
    bias = biases[0]
    rest = tuple(value for at, value in enumerate(op.inputs) if at != bias)
    axis = 1 if op.kind == "conv" else made.ndim - 1
    if arrays[bias].size != made.shape[axis]:
        return False
    added = floats(arrays[bias]).reshape([-1 if place == axis else 1 for place in range(made.ndim)])
    product: Floats = floats(made) - added
    kind = "conv" if op.kind == "conv" else "matmul"
    there = None if kind == "conv" else _matmul(split, op, (rest[0], rest[1]), product, last=False)
    there = there if there is not None else split.op(op, kind, rest, product)
    spread = split.op(op, "reshape", (op.inputs[bias],), added)
    split.last(op, "add", (there, spread))
    return True


def _layer_norm(split: _Split, op: Op, arrays: list[Array], made: Array) -> bool:
    """The normalisation itself, then weight and bias."""
    if len(arrays) not in (2, 3) or not floats(arrays[1]).all():
        return False
    scaled = floats(made) - floats(arrays[2]) if len(arrays) == 3 else floats(made)
    bare = split.op(op, "layer_norm", (op.inputs[0],), scaled / floats(arrays[1]))
    if len(arrays) == 2:
        split.last(op, "mul", (bare, op.inputs[1]))
        return True
    there = split.op(op, "mul", (bare, op.inputs[1]), scaled)
    split.last(op, "add", (there, op.inputs[2]))
    return True


def _attention(split: _Split, op: Op, arrays: list[Array], made: Array) -> bool:
    """Scores, their scale, a mask, softmax and the weighted sum."""
    if len(arrays) < 3:
        return False
    query, key, value = (floats(array) for array in arrays[:3])
    turned = np.swapaxes(key, -1, -2)
    try:
        scores: Floats = np.matmul(query, turned)
    except ValueError:
        return False
    for scale in _scales(op, query.shape[-1]):
        for mask in _masks(arrays[3:], scores):
            shares = softmax(scale * scores if mask is None else scale * scores + mask, -1)
            if not equal(np.matmul(shares, value), made, split.floor):
                continue
            there = split.op(op, "transpose", (op.inputs[1],), turned)
            there = split.op(op, "matmul", (op.inputs[0], there), scores)
            there = split.op(op, "mul", (there,), scale * scores)
            if mask is not None:
                there = split.op(op, "masked_fill", (there,), scale * scores + mask)
            there = split.op(op, "softmax", (there,), shares)
            split.last(op, "matmul", (there, op.inputs[2]))
            return True
    return False


def _scales(op: Op, width: int) -> Iterator[float]:
    given = op.settings.get("scale")
    if isinstance(given, float | int) and not isinstance(given, bool):
        yield float(given)
    yield width**-0.5
    yield 1.0


def _masks(given: list[Array], scores: Floats) -> Iterator[Floats | None]:
    yield None
    for array in given:
        if all(size in (1, wanted) for size, wanted in zip(array.shape[::-1], scores.shape[::-1], strict=False)):
            yield np.where(array, 0.0, -np.inf) if array.dtype == np.bool_ else floats(array)
    yield np.triu(np.full(scores.shape[-2:], -np.inf), 1)
