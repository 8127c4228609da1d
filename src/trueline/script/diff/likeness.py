"""Whether two values are the same, as far as events are taken for one another."""

from __future__ import annotations

from typing import Final

from trueline.script.diff.aligning import Aligned, aligned
from trueline.script.diff.naming import QUERIES, word_of
from trueline.script.diff.shapes import Shapes, commutes, operation_of, plain
from trueline.script.script import Script
from trueline.script.values import (
    Attribute,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Partial,
    Seq,
    Table,
    Unknown,
    Value,
)

# Operations that two values are followed down, in a graph that may be cyclic: what is deeper is taken for alike.
MAX_DEPTH: Final = 60


class Likeness:
    """Two scripts with their events aligned, and the objects that were found to be one another's."""

    def __init__(self, script: Script, bench: Script) -> None:
        self.script, self.bench = script, bench
        self.shapes = Shapes()
        self.aligned: Aligned = aligned(script, bench, self.shapes)
        self.objects_of: dict[int, Value] = {}
        self._alike: dict[tuple[int, int], bool] = {}

    def alike(self, mine: Value | None, bench: Value | None, depth: int = 0) -> bool:
        """Whether two values are the same, as far as events are taken for one another."""
        mine, bench = plain(mine), plain(bench)
        if mine is None or bench is None:
            return mine is bench
        key = (id(mine), id(bench))
        if key not in self._alike:
            self._alike[key] = True
            self._alike[key] = self._are_alike(mine, bench, depth + 1)
        return self._alike[key]

    def _are_alike(self, mine: Value, bench: Value, depth: int) -> bool:
        if self.shapes.of(mine) == self.shapes.of(bench) or depth > MAX_DEPTH:
            return True
        own, theirs = operation_of(mine), operation_of(bench)
        if own is not None and theirs is not None:
            if own[0] != theirs[0] or len(own[1]) != len(theirs[1]):
                return False
            if commutes(own[0]):
                return not self.unpaired(list(own[1]), list(theirs[1]))[0]
            return all(
                self.alike(value, bench_value, depth) for value, bench_value in zip(own[1], theirs[1], strict=True)
            )
        match mine, bench:
            case Made(), Made():
                word = word_of(mine.name)
                if word in QUERIES and word == word_of(bench.name):
                    return True
                return self.aligned.are_one(mine.event, bench.event) or self.objects_of.get(id(mine)) is bench
            case Item(), Item():
                return self.alike(mine.of, bench.of, depth) and self.alike(mine.index, bench.index, depth)
            case Attribute(), Attribute():
                return mine.name == bench.name and self.alike(mine.of, bench.of, depth)
            case Seq(), Seq():
                held = [[*side.items, *side.tests] for side in (mine, bench)]
                return len(held[0]) == len(held[1]) and all(
                    self.alike(value, bench_value, depth) for value, bench_value in zip(*held, strict=True)
                )
            case Either(), Either():
                left, right = self.unpaired(list(mine.options), list(bench.options))
                return not left and not right
            case Table(), Table():
                return set(mine.items) == set(bench.items) and all(
                    self.alike(value, bench.items[name], depth) for name, value in mine.items.items()
                )
            case (Instance(), Instance()) | (Function(), Function()) | (Partial(), Partial()):
                return True
            case Unknown(), Unknown():
                return True
        return False

    def unpaired(self, left: list[Value], right: list[Value]) -> tuple[list[Value], list[Value]]:
        """What of either side has nothing like it on the other."""
        rest: list[Value] = []
        right = list(right)
        for value in left:
            at = next((place for place, bench_value in enumerate(right) if self.alike(value, bench_value)), None)
            if at is None:
                rest.append(value)
            else:
                right.pop(at)
        return rest, right
