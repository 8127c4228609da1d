"""Operators that make a value for each pair of rows of a batch, followed until all pairs are one number.

A shape (N,) beside (N, 1) gives (N, N) without being asked. Where pairs are wanted, both sides come from the same
tensor, or what is made meets another value for each pair: a mask, a product of matrices, a target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import Final

from trueline.adapters.nouns import OpCall, Value
from trueline.adapters.protocol import Values
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.record.project import Project

_MAX_OPERANDS: Final = 4
_MAX_CANDIDATES: Final = 16
Shape = tuple[int, ...]


@dataclass(slots=True, eq=False)
class _Pairs:
    """What one operator has made, and what has become of it."""

    function: str
    operands: tuple[Shape, Shape]
    result: Shape
    explicit: bool
    line: Location
    partly: bool = False
    reduced: bool = False
    wanted: bool = False


class RowPairs:
    """Follows tensors by where their numbers lie, from operator to operator of one step."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.begin()

    def begin(self) -> None:
        """A step begins of which nothing is known."""
        self._rows: set[int] = set()
        self._fixed: set[int] = set()
        self._learned: set[int] = set()
        self._widened: set[tuple[int, Shape]] = set()
        self._source: dict[int, int] = {}
        self._made: dict[int, _Pairs] = {}
        self._pairs: list[_Pairs] = []

    def batch(self, tensors: Sequence[Value], values: Values) -> None:
        """What a network takes or gives has a batch's rows."""
        self._rows |= {shape[0] for tensor in tensors if (shape := values.shape(tensor)) and shape[0] > 1}

    def parameters(self, tensors: Sequence[Value], values: Values) -> None:
        """These have no rows, and what is computed with them is learned."""
        found = {values.identity(tensor) for tensor in tensors}
        self._fixed |= found
        self._learned |= found

    def given(self, tensors: Sequence[Value], values: Values) -> None:
        """What a network has returned."""
        self._learned |= {values.identity(tensor) for tensor in tensors}

    def operator(self, call: OpCall, values: Values) -> None:
        """An operator has run."""
        inputs = [(values.identity(tensor), _shape(tensor, values)) for tensor in call.inputs]
        outputs = [(values.identity(tensor), _shape(tensor, values)) for tensor in call.outputs]
        known = [made for place, _ in inputs if (made := self._made.get(place)) is not None]
        fixed = all(place in self._fixed for place, _ in inputs)
        learned = any(place in self._learned for place, _ in inputs)
        sources = {self._source.get(place, place) for place, _ in inputs}
        widened = any((place, shape) in self._widened for place, shape in inputs)
        candidate = self._candidate(call, inputs, outputs)
        own = {place for place, _ in inputs}
        for place, shape in outputs:
            if place not in own:
                self._forget(place)
            if fixed:
                self._fixed.add(place)
            if learned:
                self._learned.add(place)
            if len(inputs) == 1 and prod(shape) == prod(inputs[0][1]):
                self._source[place] = next(iter(sources))
                if len(shape) > len(inputs[0][1]) or (widened and shape == inputs[0][1]):
                    self._widened.add((place, shape))
        for made in dict.fromkeys(known):
            self._follow(made, call, inputs, outputs, values)
        if candidate is not None:
            self._pairs.append(candidate)
            self._made[outputs[0][0]] = candidate

    def _forget(self, place: int) -> None:
        """Numbers lie where others lay before."""
        self._fixed.discard(place)
        self._learned.discard(place)
        self._source.pop(place, None)
        self._made.pop(place, None)
        for widened in [found for found in self._widened if found[0] == place]:
            self._widened.discard(widened)

    def _candidate(
        self, call: OpCall, inputs: Sequence[tuple[int, Shape]], outputs: Sequence[tuple[int, Shape]]
    ) -> _Pairs | None:
        if len(outputs) != 1 or not 2 <= len(inputs) <= _MAX_OPERANDS or call.line is None:
            return None
        if len(self._pairs) >= _MAX_CANDIDATES:
            return None
        for (place, shape), (wide_place, wide) in permutations(inputs, 2):
            if not self._gives_pairs(shape, wide, outputs[0][1]):
                continue
            of_batch = place not in self._fixed and wide_place not in self._fixed
            apart = self._source.get(place, place) != self._source.get(wide_place, wide_place)
            learned = place in self._learned or wide_place in self._learned
            if of_batch and apart and learned and place not in self._made and wide_place not in self._made:
                explicit = (wide_place, wide) in self._widened
                return _Pairs(call.name, (shape, wide), outputs[0][1], explicit, call.line)
        return None

    def _gives_pairs(self, shape: Shape, wide: Shape, result: Shape) -> bool:
        ahead = len(wide) - len(shape)
        if not shape or ahead < 1 or len(result) != len(wide):
            return False
        rows = shape[0]
        broadcast = all(
            own in (size, 1) and size in (other, own)
            for own, other, size in zip(wide, (*(1,) * ahead, *shape), result, strict=True)
        )
        return broadcast and rows in self._rows and wide[0] == rows and wide[ahead] == 1 and result[ahead] == rows

    def _follow(
        self,
        made: _Pairs,
        call: OpCall,
        inputs: Sequence[tuple[int, Shape]],
        outputs: Sequence[tuple[int, Shape]],
        values: Values,
    ) -> None:
        others = [shape for place, shape in inputs if self._made.get(place) is not made]
        if any(shape == made.result for shape in others) or len(outputs) != 1:
            made.wanted = True
            return
        (place, shape), tensor = outputs[0], call.outputs[0]
        if prod(shape) == 1:
            made.reduced = True
            made.wanted = made.wanted or any(prod(other) > 1 for other in others)
        elif shape == made.result:
            self._made[place] = made
        elif not others and len(shape) < len(made.result) and "float" in values.dtype(tensor):
            made.partly = True
            self._made[place] = made
        elif prod(shape) < prod(made.result) and not (len(shape) < len(made.result) and made.partly):
            made.wanted = True
        else:
            self._made[place] = made

    def reduced(self) -> Iterator[dict[str, Json]]:
        """The fields of the events of a finished step."""
        told: set[Location] = set()
        pairs, self._pairs = self._pairs, []
        for made in pairs:
            if made.reduced and not made.wanted and made.line not in told:
                told.add(made.line)
                line = self._project.line(made.line)
                yield {
                    "function": made.function,
                    "operands": [list(shape) for shape in made.operands],
                    "result": list(made.result),
                    "explicit": made.explicit,
                    "partly": made.partly,
                    "line": None if line is None else line.line_json(),
                }


def _shape(tensor: Value, values: Values) -> Shape:
    return tuple(values.shape(tensor))
