"""Tensors of modules that are the same: by what they are to their module, or as the only ones left of their shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from trueline.compare.align.matching import Matching, less_sure
from trueline.compare.align.result import Layout, Pair, Reason
from trueline.compare.align.shapes import layout
from trueline.compare.align.spelling import part_likeness
from trueline.compare.align.tree import Node, Tag, Tensor
from trueline.model.finding import Certainty


class Pairing:
    """Pairs of tensors; ``a`` and ``b`` are the keys that have found theirs."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, Pair]] = []
        self.taken: set[int] = set()

    def free(self, tensors: Iterable[Tensor]) -> list[Tensor]:
        """Those without a partner."""
        return [tensor for tensor in tensors if id(tensor) not in self.taken]

    def take(self, a: Tensor, b: Tensor, reason: Reason, certainty: Certainty) -> None:
        """Pair two tensors."""
        self.taken.update((id(a), id(b)))
        found = layout(a.shape, b.shape) or Layout.SAME
        self.pairs.append((b.place, Pair(a.key, b.key, reason, certainty, found)))

    def pair_modules(self, matching: Matching) -> None:
        """The tensors of all matched modules."""
        for a, b in matching.pairs:
            self._pair(a.tensors, b.tensors, b)
        for a, b in matching.inner:
            owned_a, owned_b = ([tensor for tensor in node.tensors if not tensor.passing] for node in (a, b))
            self._pair(owned_a, owned_b, a if a.reason is Reason.PREFIX else b)

    def _pair(self, here: list[Tensor], there: list[Tensor], node: Node) -> None:
        tags = {tensor.tag: tensor for tensor in here}
        if (
            len(tags) == len(here) == len(there)
            and tags.keys() == {tensor.tag for tensor in there}
            and not self._any(tags)
        ):
            for b in there:
                self.take(tags[b.tag], b, _reason(tags[b.tag], b, node), node.certainty)
            return
        for spell in (_written, _tag):
            for a, b in self._alone(here, there, spell):
                self.take(a, b, _reason(a, b, node), node.certainty)
        # Own tensors with names of their own: where just one is left of a kind and shape.
        owned_a, owned_b = (
            [tensor for tensor in side if not tensor.passing and tensor.shape] for side in (here, there)
        )
        for a, b in self._alone(owned_a, owned_b, _left):
            if not (a.leaf in _names(there) or b.leaf in _names(here)):
                self.take(a, b, Reason.RENAMED, less_sure(Certainty.LIKELY, node.certainty))
        for a, b in _likest(self.free(owned_a), self.free(owned_b)):
            if not (a.leaf in _names(there) or b.leaf in _names(here)):
                self.take(a, b, Reason.RENAMED, less_sure(Certainty.LIKELY, node.certainty))

    def _any(self, tags: Mapping[Tag, Tensor]) -> bool:
        return any(id(tensor) in self.taken for tensor in tags.values())

    def pair_strays(self, here: Iterable[Tensor], there: Iterable[Tensor]) -> None:
        """Tensors of modules without a partner: the only one of its name and shape on both sides, if it is telling."""
        a_side, b_side = (
            [
                tensor
                for tensor in side
                if tensor.shape and not tensor.passing and len(tensor.leaf) > 1 and "_" in tensor.leaf
            ]
            for side in (here, there)
        )
        for a, b in self._alone(a_side, b_side, lambda tensor: (tensor.tag, tensor.shape)):
            self.take(a, b, Reason.RENAMED, Certainty.LIKELY)

    def _alone(
        self, here: list[Tensor], there: list[Tensor], spell: Callable[[Tensor], Hashable]
    ) -> list[tuple[Tensor, Tensor]]:
        by_a, by_b = _spelled(self.free(here), spell), _spelled(self.free(there), spell)
        return [
            (found[0], by_b[spelling][0])
            for spelling, found in by_a.items()
            if len(found) == 1 and len(by_b.get(spelling, ())) == 1
        ]


def _likest(here: Iterable[Tensor], there: Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Of one kind and shape, those whose names are more like each other's than like any other's."""
    by_a, by_b = _spelled(here, _left), _spelled(there, _left)
    found: list[tuple[Tensor, Tensor]] = []
    for spelling, mine in by_a.items():
        theirs = by_b.get(spelling, [])
        best_b = {id(a): _best(a, theirs) for a in mine}
        best_a = {id(b): _best(b, mine) for b in theirs}
        found += [(a, b) for a in mine if (b := best_b[id(a)]) is not None and best_a[id(b)] is a]
    return found


def _best(tensor: Tensor, others: Sequence[Tensor]) -> Tensor | None:
    """The one whose name is most like a tensor's; None where several are as like, or none is at all."""
    ranked = sorted(others, key=lambda other: -part_likeness(tensor.leaf, other.leaf))
    likeness = [part_likeness(tensor.leaf, other.leaf) for other in ranked[:2]]
    return ranked[0] if likeness and likeness[0] > (likeness[1] if len(likeness) > 1 else 0.0) else None


def _spelled(tensors: Iterable[Tensor], spell: Callable[[Tensor], Hashable]) -> dict[Hashable, list[Tensor]]:
    found: dict[Hashable, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        found[spell(tensor)].append(tensor)
    return found


def _written(tensor: Tensor) -> Hashable:
    key = tensor.key
    return (key.phase, key.kind, key.call, tensor.leaf, tensor.slot)


def _tag(tensor: Tensor) -> Hashable:
    return tensor.tag


def _left(tensor: Tensor) -> Hashable:
    return (tensor.tag[:3], tensor.leaf if tensor.slot else "", tensor.shape)


def _names(tensors: Iterable[Tensor]) -> set[str]:
    return {tensor.leaf for tensor in tensors if not tensor.slot}


def _reason(a: Tensor, b: Tensor, node: Node) -> Reason:
    if node.reason is not Reason.NAME:
        return node.reason
    return Reason.NAME if a.key == b.key else Reason.LEAF
