"""A renaming that holds in every other block holds in this one too."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final, NamedTuple

from trueline.compare.align.matching import Matching, fits, less_sure
from trueline.compare.align.result import Reason
from trueline.compare.align.tree import Node
from trueline.model.finding import Certainty

_NUMBERS: Final = re.compile(r"\d+")


class _Place(NamedTuple):
    """Where a node stands: the nearest module around it that is matched, and the path from there."""

    above: Node
    within: tuple[str, ...]


class _Renaming(NamedTuple):
    """Kinds of places on both sides, numbers left out, and a name within them."""

    here: str
    there: str
    name: tuple[str, ...]


def follow_examples(matching: Matching) -> bool:
    """Match what is called as its counterparts elsewhere are; True when something was found."""
    left = [node for node in matching.a.nodes.values() if node.partner is None and node.owners and not node.touched]
    if not left:
        return False
    forth, back = _renamings(matching)
    before = len(matching.pairs)
    for node in left:
        above, within = _place(node)
        other = above.partner
        if other is None or node.partner is not None:
            continue
        names = forth.get(_Renaming(_kind(above), _kind(other), within), {})
        if len(names) != 1:
            continue
        (name, certainty), *_ = names.items()
        if len(back[_Renaming(_kind(above), _kind(other), name)]) == 1:
            found = _descend(other, name)
            if found is not None and found.partner is None and bool(node.leaves) == bool(found.leaves):
                sure = less_sure(certainty, above.certainty)
                if fits(node, found):
                    matching.match(node, found, Reason.RENAMED, less_sure(sure, Certainty.LIKELY))
    return len(matching.pairs) > before


_Names = dict[_Renaming, dict[tuple[str, ...], Certainty]]


def _renamings(matching: Matching) -> tuple[_Names, _Names]:
    forth: _Names = defaultdict(dict)
    back: _Names = defaultdict(dict)
    for a, b in matching.pairs:
        if a.parent is None or b.parent is None:
            continue
        (above_a, name_a), (above_b, name_b) = _place(a), _place(b)
        # A number is a place: it says nothing of another block.
        if above_a.partner is above_b and not (name_a[-1].isdigit() or name_b[-1].isdigit()):
            here, there = _kind(above_a), _kind(above_b)
            for names, name, other in ((forth, name_a, name_b), (back, name_b, name_a)):
                known = names[_Renaming(here, there, name)]
                known[other] = less_sure(known.get(other, Certainty.CERTAIN), a.certainty)
    return forth, back


def _place(node: Node) -> _Place:
    above = node.parent
    while above is not None and above.partner is None:
        above = above.parent
    if above is None:
        return _Place(node, ())
    return _Place(above, node.parts[len(above.parts) :])


def _kind(node: Node) -> str:
    return _NUMBERS.sub("#", node.path)


def _descend(node: Node, names: tuple[str, ...]) -> Node | None:
    found: Node | None = node
    for name in names:
        found = found.children.get(name) if found is not None else None
    return found
