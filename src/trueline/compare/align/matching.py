"""Modules of both sides that were found to be the same, and what speaks against two being so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trueline.compare.align.result import Reason
from trueline.compare.align.shapes import layout
from trueline.compare.align.tree import Node, Tree
from trueline.model.finding import Certainty

_SURENESS: Final = (Certainty.CERTAIN, Certainty.LIKELY, Certainty.POSSIBLE)
_INHERITED: Final = frozenset({Reason.MAP, Reason.ORDER, Reason.VALUES})
SURE: Final[Mapping[Reason, Certainty]] = {
    Reason.MAP: Certainty.CERTAIN,
    Reason.NAME: Certainty.CERTAIN,
    Reason.LEAF: Certainty.CERTAIN,
    Reason.PREFIX: Certainty.LIKELY,
    Reason.RENAMED: Certainty.LIKELY,
    Reason.ORDER: Certainty.POSSIBLE,
    Reason.VALUES: Certainty.LIKELY,
}


def less_sure(certainty: Certainty, other: Certainty) -> Certainty:
    """The weaker of two."""
    return max(certainty, other, key=_SURENESS.index)


class Matching:
    """Which node of a is which node of b."""

    def __init__(self, a: Tree, b: Tree) -> None:
        self.a = a
        self.b = b
        self.pairs: list[tuple[Node, Node]] = []
        # A module's own tensors may lie one module further in on the other side: (node of a, node of b).
        self.inner: list[tuple[Node, Node]] = []

    def match(self, a: Node, b: Node, reason: Reason, certainty: Certainty | None = None) -> bool:
        """Take two nodes for the same, unless one of them is another's already."""
        if a.partner is not None or b.partner is not None:
            return False
        within = _layer_within(a, b)
        if within is not None:
            return self.match(*within, Reason.PREFIX, less_sure(Certainty.LIKELY, certainty or SURE[reason]))
        a.partner, b.partner = b, a
        a.reason = b.reason = reason
        a.certainty = b.certainty = certainty or SURE[reason]
        _touch(a)
        _touch(b)
        self.pairs.append((a, b))
        if bool(a.leaves) != bool(b.leaves):
            self._look_inside(a, b)
        return True

    def match_below(self, above: tuple[Node, Node], a: Node, b: Node, reason: Reason) -> bool:
        """Take two nodes below a pair for the same: they are no surer than what is above them."""
        top = above[0]
        certainty = less_sure(SURE[reason], top.certainty)
        return self.match(a, b, top.reason if top.reason in _INHERITED else reason, certainty)

    def _look_inside(self, a: Node, b: Node) -> None:
        outer, wrapper = (a, b) if a.leaves else (b, a)
        if wrapper.owners != 1:
            return
        inner = next(node for node in wrapper.below() if node.leaves)
        if inner.partner is None and fits(outer, inner):
            inner.partner = outer
            _touch(inner)
            inner.reason, inner.certainty = Reason.PREFIX, less_sure(Certainty.LIKELY, a.certainty)
            self.inner.append((outer, inner) if outer is a else (inner, outer))


def _layer_within(a: Node, b: Node) -> tuple[Node, Node] | None:
    """A layer, and its like among several that a block of the same name holds: the block is more than the layer."""
    layer, block = (a, b) if a.leaves else (b, a)
    if block.leaves or not layer.leaves or block.owners < 2 or layer.owners > 1:
        return None
    alike = [
        node for node in block.below() if node.leaves and node.own_loose == layer.own_loose != 0 and fits(layer, node)
    ]
    if len(alike) != 1 or alike[0].partner is not None:
        return None
    return (layer, alike[0]) if layer is a else (alike[0], layer)


def _touch(node: Node) -> None:
    above = node.parent
    while above is not None and not above.touched:
        above.touched = True
        above = above.parent


def fits(a: Node, b: Node) -> bool:
    """Whether neither the types nor the shapes of two modules' own tensors contradict."""
    if a.kind and b.kind and a.kind != b.kind:
        return False
    shared = a.leaves.keys() & b.leaves.keys()
    if not shared:
        return not (a.leaves and b.leaves)
    return all(layout(a.leaves[leaf], b.leaves[leaf]) is not None for leaf in shared)
