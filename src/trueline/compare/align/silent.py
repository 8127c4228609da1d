"""Modules without tensors of their own (activations, pooling, dropout): found by place, name and type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable

from trueline.compare.align.matching import Matching, fits
from trueline.compare.align.result import Reason
from trueline.compare.align.spelling import spelled
from trueline.compare.align.tree import Node


def match_silent(matching: Matching) -> None:
    """Look below every matched pair: by equal words, then by a type that just one has, then by order of one type."""
    ordered = matching.a.ordered and matching.b.ordered
    place = 0
    while place < len(matching.pairs):
        above = matching.pairs[place]
        place += 1
        if not _silent(above[0].children.values()) or not _silent(above[1].children.values()):
            continue
        _alone(matching, above, lambda node: spelled(node.name))
        _alone(matching, above, lambda node: node.kind)
        here, there = _by(above[0], lambda node: node.kind), _by(above[1], lambda node: node.kind)
        for kind in here.keys() & there.keys():
            if kind and ordered and len(here[kind]) == len(there[kind]):
                for a, b in zip(
                    *(sorted(one[kind], key=lambda node: node.order) for one in (here, there)), strict=True
                ):
                    matching.match_below(above, a, b, Reason.ORDER)


def _alone(matching: Matching, above: tuple[Node, Node], spell: Callable[[Node], Hashable]) -> None:
    here, there = _by(above[0], spell), _by(above[1], spell)
    for word in here.keys() & there.keys():
        if word and len(here[word]) == len(there[word]) == 1 and fits(here[word][0], there[word][0]):
            matching.match_below(above, here[word][0], there[word][0], Reason.RENAMED)


def _by(top: Node, spell: Callable[[Node], Hashable]) -> dict[Hashable, list[Node]]:
    found: dict[Hashable, list[Node]] = defaultdict(list)
    for node in _silent(top.children.values()):
        found[spell(node)].append(node)
    return found


def _silent(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if node.partner is None and not node.owners]
