"""The call graph: a module whose neighbour is matched is found beside that neighbour's partner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from trueline.compare.align.matching import Matching, fits, less_sure
from trueline.compare.align.result import Reason
from trueline.compare.align.tree import Node, Tree
from trueline.model.finding import Certainty
from trueline.model.run import CallInfo

# A residual line reaches every block behind it: the nearest sources tell most.
_MOST_SOURCES: Final = 6


class Graph:
    """Which modules with tensors of their own feed which, through modules that have none."""

    def __init__(self, tree: Tree, calls: Sequence[CallInfo]) -> None:
        self.before: dict[Node, list[Node]] = defaultdict(list)
        self.after: dict[Node, list[Node]] = defaultdict(list)
        sources: list[tuple[int, ...]] = []
        last_inside: dict[Node, int] = {}
        nodes = [tree.node(call.path) for call in calls]
        for place, (call, node) in enumerate(zip(calls, nodes, strict=True)):
            feeding: set[int] = set()
            for source in call.feeds_from:
                if 0 <= source < place:
                    # What a module with parts hands on was made by the last part.
                    inside = last_inside.get(nodes[source], -1) if nodes[source].children else -1
                    feeding.update((inside,) if inside >= 0 else sources[source])
            if not node.leaves:
                sources.append(tuple(sorted(feeding)[-_MOST_SOURCES:]))
                continue
            sources.append((place,))
            above = node.parent
            while above is not None:
                last_inside[above] = place
                above = above.parent
            for source in sorted(feeding)[-_MOST_SOURCES:]:
                if node not in self.after[nodes[source]]:
                    self.after[nodes[source]].append(node)
                    self.before[node].append(nodes[source])


def spread(matching: Matching, a: Graph, b: Graph, loose: bool) -> bool:
    """Match the neighbours of matched modules where just one on each side has the same signature."""
    before, place = len(matching.pairs), 0
    while place < len(matching.pairs):
        here, there = matching.pairs[place]
        place += 1
        for near_a, near_b in ((a.before[here], b.before[there]), (a.after[here], b.after[there])):
            alone_a, alone_b = _alone(near_a, loose), _alone(near_b, loose)
            for sign in alone_a.keys() & alone_b.keys():
                node, other = alone_a[sign], alone_b[sign]
                if fits(node, other) and _above_agree(node, other):
                    sure = less_sure(Certainty.LIKELY, here.certainty)
                    matching.match(node, other, Reason.RENAMED, sure)
    return len(matching.pairs) > before


def _alone(nodes: Iterable[Node], loose: bool) -> dict[int, Node]:
    by_sign: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.partner is None and (sign := node.own_signature(loose)):
            by_sign[sign].append(node)
    return {sign: found[0] for sign, found in by_sign.items() if len(found) == 1}


def _above_agree(a: Node, b: Node) -> bool:
    """Whether the nearest matched modules around both are each other's."""
    return _matched_above(a).partner is _matched_above(b)


def _matched_above(node: Node) -> Node:
    above = node.parent
    while above is not None and above.partner is None:
        above = above.parent
    return above if above is not None else node
