"""One side's op graph, read for its values: shapes left aside, composed functions taken as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.ops.forms import Form, affine, elementwise
from trueline.pair.ops.layout_forms import moved, rotated
from trueline.pair.ops.op_forms import Done, recognised
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.rewriting import split
from trueline.pair.ops.same_values import equal, without_ones
from trueline.pair.ops.whole_forms import over_axes

_SHAPE_ONLY: Final = frozenset(
    {"reshape", "squeeze", "unsqueeze", "identity", "stop_gradient", "cast", "dropout", "expand", "transpose", "unbind"}
)
# What takes all of a value, or moves nothing, has done nothing.
_IDLE: Final = _SHAPE_ONLY | {"slice", "index", "gather", "pad", "flip", "roll", "repeat", "split"}
# These repeat by themselves what is too short.
_REPEATING: Final = frozenset({"add", "sub", "mul", "div", "matmul", "where", "maximum", "minimum", "pow"})
_LONGEST_COMPOSED: Final = 14
_JOINING: Final = frozenset({"cat", "stack"})
_COMPOSED: Final = frozenset({"activation", "softmax", "norm"})


class Reading:
    """A graph whose values are known by one id each, whatever their shapes.

    ``is_known`` says whether the other side has a value too; composed functions are not sought across such values.
    """

    def __init__(self, graph: Graph, floor: float) -> None:
        self.graph = split(graph, floor)
        self._whole = graph.maker
        self.floor = floor
        self.is_known: Callable[[int], bool] = lambda _: False
        self._base: dict[int, int] = {}
        self._made: dict[tuple[str | int, ...], int] = {}
        self._done: dict[Op, Done | None] = {}
        self._composed: dict[int, Op | None] = {}
        self._settled: dict[int, bool] = {}

    def base(self, value: int) -> int:
        """The first value whose elements, in this order, it has: before a reshape, or made before by the same op."""
        if value not in self._base:
            self._base[value] = value
            op = self.graph.maker.get(value)
            if op is not None and op.module is None:
                self._base[value] = self._earlier(value, op)
        return self._base[value]

    def _earlier(self, value: int, op: Op) -> int:
        here = self.array(value)
        if here is None or not op.inputs:
            return value
        given = [self.base(value_id) for value_id in op.inputs]
        there = self.array(op.inputs[0])
        if op.kind in _IDLE and there is not None and equal(here, there, self.floor):
            return given[0]
        first = self._made.setdefault((op.kind, op.outputs.index(value), *given), value)
        before = self.array(first)
        return first if first != value and before is not None and equal(here, before, self.floor) else value

    def array(self, value: int) -> Array | None:
        """A value's elements; None where they were not kept."""
        return self.graph.values[value]

    @cached_property
    def all(self) -> list[int]:
        """Every value, each once, those given to the block first."""
        made = [*self.graph.inputs, *(value for op in self.graph.ops for value in (*op.inputs, *op.outputs))]
        return list(dict.fromkeys(self.base(value) for value in made))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of axes that occur."""
        return tuple(
            sorted({size for array in self.graph.values if array is not None for size in array.shape if size > 1})
        )

    def op(self, value: int) -> Op | None:
        """The operator that makes a value; None for what comes from outside or from an inner layer."""
        op = self.graph.maker.get(value)
        return op if op is not None and op.module is None else None

    def is_constant(self, value: int) -> bool:
        """Whether a value is a parameter, or the same number everywhere."""
        array = self.array(value)
        if value in self.graph.names and value not in self.graph.inputs:
            return True
        return array is not None and (array.size < 2 or bool((array == array.flat[0]).all()))

    def is_settled(self, value: int) -> bool:
        """Whether a value depends on nothing that the block is given, and on no weight."""
        if value not in self._settled:
            self._settled[value] = False
            op = self.graph.maker.get(value)
            if op is not None:
                found = op.module is None and all(map(self.is_settled, op.inputs))
            else:
                found = value not in self.graph.inputs
                found = found and (value not in self.graph.names or value in self.graph.assigned)
            self._settled[value] = found
        return self._settled[value]

    def source(self, value: int) -> int:
        """What a settled value is made of: the one thing that a module holds, else itself."""
        open_values, held = [value], set[int]()
        seen = {value}
        while open_values:
            latest = open_values.pop()
            op = self.graph.maker.get(latest)
            if op is None and latest in self.graph.assigned:
                held.add(latest)
            fresh = [given for given in (op.inputs if op is not None else ()) if given not in seen]
            seen.update(fresh)
            open_values += fresh
        return held.pop() if len(held) == 1 else value

    def inputs(self, op: Op) -> list[int]:
        """What an operator takes; before it was repeated, where the operator would have done that by itself."""
        if op.kind in _REPEATING:
            return [self._unrepeated(value) for value in op.inputs]
        return [self.base(value) for value in op.inputs]

    def _unrepeated(self, taken: int) -> int:
        value = self.base(taken)
        first, given = self.array(value), self.array(taken)
        # What was repeated on an axis that then is one with another does not repeat by itself.
        if first is None or given is None or without_ones(first.shape) != without_ones(given.shape):
            return value
        op, here = self.op(value), self.array(value)
        if op is None or here is None or not (op.kind == "expand" or (op.kind in _REPEATING and len(op.inputs) == 2)):
            return value
        # A sum with nothing but zeros repeats, too.
        return next((self.base(before) for before in op.inputs if self._repeats(before, here)), value)

    def _repeats(self, before: int, here: Array) -> bool:
        """Whether a value is an earlier one, repeated."""
        there = self.array(before)
        if there is None or here.ndim < there.ndim or here.size == there.size:
            return False
        pairs = zip(reversed(here.shape), reversed(there.shape), strict=False)
        return all(own in (after, 1) for after, own in pairs) and np.array_equal(
            np.broadcast_to(there, here.shape), here
        )

    def done(self, op: Op) -> Done | None:
        """What the operator does, where that can be told."""
        if op not in self._done:
            given = [self.array(value) for value in op.inputs]
            made = self.array(op.outputs[0])
            arrays = [array for array in given if array is not None]
            known = made is not None and len(arrays) == len(given)
            self._done[op] = recognised(op.kind, arrays, made, self.floor) if known and made is not None else None
        return self._done[op]

    def ways(self, value: int) -> Iterator[Op]:
        """How a value is made: by one function that was composed, where there is one, and by the last operator."""
        if value not in self._composed:
            self._composed[value] = self._compose(value)
        composed = self._composed[value]
        if composed is not None:
            yield composed
        op = self.op(value)
        if op is not None:
            yield op

    def fused(self, value: int) -> Iterator[Op]:
        """The operator that made a value in one piece, where it is taken in several and goes on from one value."""
        whole, last = self._whole.get(value), self.op(value)
        if whole is None or last is None or last is whole or self.is_known(value):
            return
        if sum(not self.is_constant(value_id) for value_id in self.inputs(whole)) == 1:
            yield whole

    def _compose(self, value: int) -> Op | None:
        """The last operators as one function of one earlier value, the earliest first."""
        last, made = self.op(value), self.array(value)
        if last is None or made is None:
            return None
        entries = self._entries(value)
        for entry, nearer in reversed(list(zip(entries, [value, *entries], strict=False))):
            given = self.array(entry)
            if given is None or (nearer != value and self._is_affine(entry, nearer)):
                continue
            form = self._form(given, made, joined=last.kind in _JOINING) if given.size == made.size else None
            if form is not None:
                op = replace(last, name=form.name, kind=form.name, inputs=(entry,), outputs=(value,), settings={})
                self._done[op] = Done.of(form)
                return op
        return None

    def _form(self, given: Array, made: Array, *, joined: bool) -> Form | None:
        """The function that several operators are together; parts of one value that are joined again only move it."""
        with np.errstate(all="ignore"):
            for form in (elementwise(given, made, self.floor), over_axes(given, made, self.floor)):
                if form is not None and form.family in _COMPOSED:
                    return form
            if joined and (rotation := rotated(given, made, self.floor)) is not None:
                return rotation
            form = moved(given.reshape(made.shape), made, self.floor, "roll") if joined else None
        if form is None or form.family == "identity":
            return None
        apply = form.apply
        return replace(form, apply=lambda value: apply(value.reshape(made.shape)))

    def _is_affine(self, earlier: int, later: int) -> bool:
        given, made = self.array(earlier), self.array(later)
        return given is not None and made is not None and affine(given, made, self.floor) is not None

    def _entries(self, value: int) -> list[int]:
        """Earlier values that alone decide about a value, from near to far, more than one operator away."""
        place = {out: at for at, op in enumerate(self.graph.ops) for out in op.outputs}
        open_values, entries, count = {value}, [], 0
        while open_values and count < _LONGEST_COMPOSED:
            latest = max(open_values, key=lambda one: place.get(one, -1))
            op = self.op(latest)
            if op is None or (latest != value and len(open_values) == 1 and self.is_known(latest)):
                break
            count += 1
            open_values.discard(latest)
            open_values |= {value_id for value_id in self.inputs(op) if not self.is_constant(value_id)}
            if len(open_values) == 1 and count > 1:
                entries.append(next(iter(open_values)))
        return entries
