"""Which tensor of one side is which of the other: names first, then structure, then order; a doubtful one is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from math import prod
from typing import Final

from trueline.compare.align.examples import follow_examples
from trueline.compare.align.group import Trust
from trueline.compare.align.groups import settle
from trueline.compare.align.matching import Matching
from trueline.compare.align.nearest import leftovers
from trueline.compare.align.neighbours import Graph, spread
from trueline.compare.align.pairing import Pairing
from trueline.compare.align.result import Alignment, Item, Reason, Structure
from trueline.compare.align.rules import Rules, apply
from trueline.compare.align.silent import match_silent
from trueline.compare.align.tree import Node, Tag, Tensor, Tree
from trueline.compare.align.walk import walk, walk_prefixes
from trueline.model.finding import Certainty
from trueline.model.key import Key, Kind

Same = Callable[[Key, Key], bool | None]
_NO_RULES: Final = Rules()


def align(a: Structure, b: Structure, rules: Rules = _NO_RULES, same: Same | None = None) -> Alignment:
    """Align two sides, the user's rules first.

    ``same`` tells whether two tensors hold the same values (None: unknown); it only chooses between candidates
    that names, types and shapes leave equally good.
    """
    items_a, items_b = ([item for item in side.items if not rules.ignores(item.key)] for side in (a, b))
    signatures: dict[Tag, int] = {}
    matching = Matching(Tree(a, items_a, signatures), Tree(b, items_b, signatures))
    pairing = Pairing()
    unused = apply(rules, matching, pairing)
    walk(matching, matching.a.root, matching.b.root, Reason.NAME, Certainty.CERTAIN)
    walk_prefixes(matching)
    _by_structure(matching, a, b, same)
    match_silent(matching)
    pairing.pair_modules(matching)
    tensors_a, tensors_b = matching.a.tensors, matching.b.tensors
    pairing.pair_strays(pairing.free(tensors_a), pairing.free(tensors_b))
    left_a, left_b = pairing.free(tensors_a), pairing.free(tensors_b)
    return Alignment(
        pairs=[pair for _, pair in sorted(pairing.pairs, key=lambda placed: placed[0])],
        only_a=leftovers(left_a, tensors_b, left_b),
        only_b=leftovers(left_b, tensors_a, left_a),
        ignored=len(a.items) + len(b.items) - len(items_a) - len(items_b),
        renamed={b.path: a.path for a, b in (*matching.inner, *matching.pairs) if a.path != b.path},
        unused=unused,
    )


def align_keys(keys_a: Iterable[Key], keys_b: Iterable[Key]) -> Alignment:
    """Align by names alone."""
    return align(Structure([Item(key) for key in keys_a]), Structure([Item(key) for key in keys_b]))


def _by_structure(matching: Matching, a: Structure, b: Structure, same: Same | None) -> None:
    """From sure to doubtful evidence; whatever is found may make the surer kinds find more."""
    graphs = (Graph(matching.a, a.calls), Graph(matching.b, b.calls)) if a.calls and b.calls else None
    decide = _by_values(same) if same is not None else None
    ordered = matching.a.ordered and matching.b.ordered
    passes = [Trust(loose, doubles=doubles) for loose in (False, True) for doubles in (False, True)]
    if decide is not None or ordered:
        passes += [Trust(loose, doubles=True, same=decide, order=ordered) for loose in (False, True)]
    if not matching.a.shaped or not matching.b.shaped:
        passes = passes[:1]
    for trust in passes:
        while _something_alike(matching, trust.loose):
            found = settle(matching, trust) or follow_examples(matching)
            if not found and not (graphs and spread(matching, *graphs, trust.loose)):
                break
    follow_examples(matching)


def _something_alike(matching: Matching, loose: bool) -> bool:
    """Whether modules without a partner have signatures in common: else no evidence is left to look for."""
    left_a, left_b = (
        {node.own_signature(loose) for node in tree.nodes.values() if node.leaves and node.partner is None}
        for tree in (matching.a, matching.b)
    )
    return not left_a.isdisjoint(left_b)


def _by_values(same: Same) -> Callable[[Node, Node], bool | None]:
    def decide(a: Node, b: Node) -> bool | None:
        tensor, other = _telling(a), _telling(b)
        return same(tensor.key, other.key) if tensor is not None and other is not None else None

    return decide


def _telling(node: Node) -> Tensor | None:
    """The tensor by which parts of one signature are told apart: the largest of those that are the only ones alike."""
    owners = [one for one in node.below() if one.leaves]
    count = Counter(owner.own_exact for owner in owners)
    owners.sort(key=lambda owner: (count[owner.own_exact], -_elements(owner), owner.own_exact))
    tensors = [tensor for tensor in owners[0].tensors if tensor.tag[1] is Kind.PARAM] if owners else []
    return min(tensors, key=lambda tensor: (tensor.tag[3] != "weight", tensor.tag[3]), default=None)


def _elements(node: Node) -> int:
    return sum(prod(shape) for shape in node.leaves.values() if shape is not None)
