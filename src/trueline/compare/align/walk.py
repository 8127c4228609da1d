"""Equal names: two trees walked side by side, from their roots or from prefixes that are found by evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from trueline.compare.align.matching import Matching, fits
from trueline.compare.align.result import Reason
from trueline.compare.align.spelling import spelled
from trueline.compare.align.tree import Node, Tree
from trueline.compare.align.units import ENOUGH_LIKE, bag, shared
from trueline.model.finding import Certainty

WRAPPERS: Final = frozenset(
    {"module", "network", "_network", "backbone", "_backbone", "_orig_mod", "_fsdp_wrapped_module"}
)
_DEEPEST_PREFIX: Final = 5
_MOST_ALIKE: Final = 4
_MOST_PREFIXES: Final = 16
_MOST_TRIED: Final = 64
_AS_MUCH: Final = 0.6
_NEARLY_ALL: Final = 0.7
_MOST_IN_SEQUENCE: Final = 512


def walk(matching: Matching, a: Node, b: Node, reason: Reason, certainty: Certainty) -> None:
    """Match the two nodes and all equal names below them; numbered siblings that are shifted by their sequence."""
    matching.match(a, b, reason, certainty)
    waiting = [(a, b, reason, certainty)]
    while waiting:
        here, there, reason, certainty = waiting.pop()
        shifted = dict(_shifted(here, there))
        moved = {id(node) for pair in shifted.items() for node in pair}
        for name, child in here.children.items():
            other = shifted.get(child) or there.children.get(name)
            if other is None or (child not in shifted and (id(child) in moved or id(other) in moved)):
                continue
            why, sure = reason, certainty
            if child in shifted and reason is not Reason.MAP:
                why, sure = Reason.RENAMED, Certainty.LIKELY
            matching.match(child, other, why, sure)
            waiting.append((child, other, why, sure))


def _shifted(a: Node, b: Node) -> Iterator[tuple[Node, Node]]:
    """Numbered siblings whose numbers differ between the sides, paired by their sequence where that explains more."""
    if not a.exact and not b.exact and not (a.children and b.children):
        return
    families_a, families_b = _families(a), _families(b)
    for stem in families_a.keys() & families_b.keys():
        here, there = families_a[stem], families_b[stem]
        if here.keys() == there.keys():
            continue
        in_a, in_b = ([family[number] for number in sorted(family)] for family in (here, there))
        if not all(node.exact for node in (*in_a, *in_b)):
            continue
        if len(in_a) == len(in_b) > 1 and _in_step(in_a, in_b):
            yield from zip(in_a, in_b, strict=True)
        elif any(here[number].loose != there[number].loose for number in here.keys() & there.keys()):
            yield from _by_sequence(
                in_a, in_b, sum(node.exact == there[n].exact for n, node in here.items() if n in there)
            )


def _in_step(in_a: list[Node], in_b: list[Node]) -> bool:
    pairs = list(zip(in_a, in_b, strict=True))
    if sum(a.loose == b.loose for a, b in pairs) >= _NEARLY_ALL * len(pairs):
        return True
    common = [shared(bag(a), bag(b)) for a, b in pairs if a.children and b.children]
    return len(common) == len(pairs) and min(common) >= ENOUGH_LIKE and sum(common) >= _NEARLY_ALL * len(common)


def _by_sequence(in_a: list[Node], in_b: list[Node], by_name: int) -> Iterator[tuple[Node, Node]]:
    if max(len(in_a), len(in_b)) > _MOST_IN_SEQUENCE:
        return
    blocks = SequenceMatcher(
        None, [node.exact for node in in_a], [node.exact for node in in_b], autojunk=False
    ).get_matching_blocks()
    if sum(block.size for block in blocks) > max(1, by_name):
        for block in blocks:
            for place in range(block.size):
                yield in_a[block.a + place], in_b[block.b + place]


def _families(node: Node) -> dict[str, dict[int, Node]]:
    found: dict[str, dict[int, Node]] = defaultdict(dict)
    for name, child in node.children.items():
        number = spelled(name)
        if number.ordinal is not None and child.owners:
            # Names such as conv1 and conv_1 in one place are no sequence.
            if number.ordinal in found[number.stem]:
                found[number.stem][-1] = child
            found[number.stem][number.ordinal] = child
    return {stem: family for stem, family in found.items() if -1 not in family}


_Start = tuple[tuple[str, ...], tuple[str, ...]]
_Votes = dict[_Start, list[tuple[Node, Node]]]


def walk_prefixes(matching: Matching) -> None:
    """Find prefixes by what remains equal without them, and walk from there."""
    for _ in range(_MOST_PREFIXES):
        start = _best_start(matching)
        if start is None:
            return
        start_a, start_b = start
        a, b = matching.a.node(".".join(start_a)), matching.b.node(".".join(start_b))
        reason = Reason.RENAMED if start_a and start_b else Reason.PREFIX
        known = WRAPPERS.issuperset(start_a) and WRAPPERS.issuperset(start_b)
        walk(matching, a, b, reason, Certainty.CERTAIN if known else Certainty.LIKELY)


def _best_start(matching: Matching) -> _Start | None:
    votes = {start: pairs for start, pairs in _votes(matching).items() if _fit(pairs)}
    open_a, open_b = _open_below(matching.a), _open_below(matching.b)
    ranked = sorted(votes, key=lambda start: _rank(start, votes[start]))
    for start in ranked[:_MOST_TRIED]:
        explained = 2 * len(votes[start]) >= min(open_a[start[0]], open_b[start[1]])
        if explained and _enough(start, votes[start]) and not _contested(start, votes, ranked):
            return start
    return None


def _votes(matching: Matching) -> _Votes:
    """For every two prefixes the modules that are called the same behind them."""
    ends_a, ends_b = _ends(matching.a), _ends(matching.b)
    votes: _Votes = defaultdict(list)
    for end, here in ends_a.items():
        there = ends_b.get(end, ())
        if max(len(here), len(there)) > _MOST_ALIKE:
            continue
        for a in here:
            for b in there:
                start_a, start_b = a.parts[: len(a.parts) - len(end)], b.parts[: len(b.parts) - len(end)]
                # The prefix is the part that differs: what is equal in front of the end belongs to it.
                if start_a != start_b and (not start_a or not start_b or start_a[-1] != start_b[-1]):
                    votes[start_a, start_b].append((a, b))
    return votes


def _ends(tree: Tree) -> dict[tuple[str, ...], list[Node]]:
    ends: dict[tuple[str, ...], list[Node]] = defaultdict(list)
    for node in tree.nodes.values():
        if node.partner is None and node.tensors:
            for start in range(min(_DEEPEST_PREFIX, len(node.parts)) + 1):
                end = node.parts[start:]
                # A number alone is a place, not a name.
                if end and not all(part.isdigit() for part in end):
                    ends[end].append(node)
    return ends


def _open_below(tree: Tree) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for node in tree.nodes.values():
        if node.partner is None and node.tensors:
            for depth in range(min(_DEEPEST_PREFIX, len(node.parts)) + 1):
                found[node.parts[:depth]] += 1
    return found


def _rank(start: _Start, pairs: list[tuple[Node, Node]]) -> tuple[int, int, list[tuple[str, ...]]]:
    return -len(pairs), len(start[0]) + len(start[1]), sorted(start)


def _enough(start: _Start, pairs: list[tuple[Node, Node]]) -> bool:
    """A single module needs more than its last name: a known wrapper, or the same tensors, and shapes if renamed."""
    if len(pairs) > 1 or all(WRAPPERS.issuperset(one) for one in start):
        return True
    a, b = pairs[0]
    return a.leaves.keys() == b.leaves.keys() and (not (start[0] and start[1]) or 0 != a.exact == b.exact)


def _fit(pairs: list[tuple[Node, Node]]) -> bool:
    return 2 * sum(fits(a, b) for a, b in pairs) > len(pairs)


def _contested(best: _Start, votes: _Votes, ranked: list[_Start]) -> bool:
    """Whether another prefix claims about as much of the same modules for others."""
    claimed = {node: other for pair in votes[best] for node, other in (pair, pair[::-1])}
    for start in ranked:
        pairs = votes[start]
        if len(pairs) < _AS_MUCH * len(votes[best]):
            return False
        against = sum(claimed.get(a, b) is not b or claimed.get(b, a) is not a for a, b in pairs)
        if 2 * against >= len(pairs):
            return True
    return False
