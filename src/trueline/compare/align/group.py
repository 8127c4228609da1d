"""The parts below two modules that are the same: what they are known by, and how two of them are matched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trueline.compare.align.matching import Matching, fits
from trueline.compare.align.result import Reason
from trueline.compare.align.tree import Node
from trueline.compare.align.units import ENOUGH_LIKE, Unit, bag, open_units, shared


@dataclass(frozen=True, slots=True)
class Trust:
    """What counts as evidence in a pass: the first passes trust little, so that sure matches come first."""

    loose: bool = False
    doubles: bool = False
    order: bool = False
    same: Callable[[Node, Node], bool | None] | None = None


class Group:
    """What is unmatched below a pair of modules, ``a`` and ``b``."""

    def __init__(self, matching: Matching, above: tuple[Node, Node], trust: Trust) -> None:
        self.matching = matching
        self.above = above
        self.trust = trust
        self.a, self.b = open_units(above[0]), open_units(above[1])

    def sign(self, unit: Unit) -> int:
        """What a unit is known by; 0 is unknown."""
        node = unit.node
        return node.own_signature(self.trust.loose) if unit.own else node.signature(self.trust.loose)

    def take(self, a: Unit, b: Unit, reason: Reason = Reason.RENAMED) -> bool:
        """Match two units; of wrappers around them the innermost are the same, and outward as far as both go."""
        inner_a, inner_b = a.core, b.core
        if inner_a.leaves and inner_b.leaves and not fits(inner_a, inner_b):
            return False
        taken = self.matching.match_below(self.above, inner_a, inner_b, reason)
        while inner_a is not a.node and inner_b is not b.node:
            assert inner_a.parent is not None and inner_b.parent is not None
            inner_a, inner_b = inner_a.parent, inner_b.parent
            self.matching.match_below(self.above, inner_a, inner_b, reason)
        return taken

    def classes(self, units: Iterable[Unit]) -> dict[int, list[Unit]]:
        """Units by what they are known by."""
        classes: dict[int, list[Unit]] = defaultdict(list)
        for unit in units:
            if sign := self.sign(unit):
                classes[sign].append(unit)
        return classes

    def alike(self, a: Unit, b: Unit) -> bool:
        """Whether nothing speaks against two units of the same name."""
        if self.sign(a) == self.sign(b):
            return True
        if a.core.leaves or b.core.leaves:
            return self.trust.loose and fits(a.core, b.core)
        return shared(bag(a.node), bag(b.node)) >= ENOUGH_LIKE
