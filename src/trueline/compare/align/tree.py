"""One side as a tree of modules: which tensors each owns, and signatures by which equal parts are found again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from trueline.compare.align.leaves import SLOTS_BEFORE, STATISTICS, common_leaves, common_slot, kind_of
from trueline.compare.align.result import Item, Reason, Structure
from trueline.compare.align.shapes import Shape, squeezed, untransposed
from trueline.model.finding import Certainty
from trueline.model.key import Key, Kind

_PASSING: Final = frozenset({Kind.IN, Kind.OUT, Kind.GIN, Kind.GOUT})
# A hostile name may consist of dots; below this depth the rest is one part.
_DEEPEST: Final = 64
_NOT_CALLED: Final = 1 << 40
# A list is sorted when fewer than one name in so many comes before the one in front of it.
_SORTED: Final = 20

Tag = tuple[object, ...]


@dataclass(slots=True, eq=False)
class Tensor:
    """One tensor in its module; ``tag`` is equal for the same tensor of two modules that are the same.

    A tensor that is not ``passing`` through its module is its own.
    """

    key: Key
    shape: Shape | None
    place: int
    leaf: str
    slot: str
    passing: bool
    tag: Tag = ()


class Node:
    """A module, or a part of a path that holds modules.

    ``exact`` and ``loose`` are signatures of all that is below: equal ones have the same tensors of the same
    shapes. The loose one tells neither a matrix from its transpose nor whether there is a bias; 0 is unknown.
    ``own_exact`` and ``own_loose`` speak of the node's own tensors only.
    """

    __slots__ = (
        "certainty",
        "children",
        "exact",
        "kind",
        "leaves",
        "loose",
        "name",
        "order",
        "own_exact",
        "own_loose",
        "owners",
        "parent",
        "partner",
        "parts",
        "path",
        "reason",
        "tensors",
        "touched",
    )

    def __init__(self, name: str, parent: Node | None) -> None:
        self.name = name
        self.parent = parent
        self.parts: tuple[str, ...] = (*parent.parts, name) if parent is not None else ()
        self.path = ".".join(self.parts)
        self.children: dict[str, Node] = {}
        self.tensors: list[Tensor] = []
        self.leaves: dict[str, Shape | None] = {}
        self.kind = ""
        self.order = _NOT_CALLED
        self.exact = self.loose = self.own_exact = self.own_loose = self.owners = 0
        self.partner: Node | None = None
        self.reason = Reason.NAME
        self.certainty = Certainty.CERTAIN
        self.touched = False

    def below(self) -> Iterator[Node]:
        """The node and all below it, parents first, in the order of the names' first appearance."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children.values()))

    def signature(self, loose: bool) -> int:
        """What the node is known by, with all below it."""
        return self.loose if loose else self.exact

    def own_signature(self, loose: bool) -> int:
        """What the node's own tensors are known by."""
        return self.own_loose if loose else self.own_exact


class Tree:
    """All modules of one side."""

    def __init__(self, structure: Structure, items: Iterable[Item], signatures: dict[Tag, int]) -> None:
        self.root = Node("", None)
        self.nodes: dict[str, Node] = {"": self.root}
        self.tensors: list[Tensor] = []
        self._place(list(items))
        self._call(structure)
        self._sign(structure.types, signatures)
        # Without any shape there are names only.
        self.shaped = any(tensor.shape is not None for tensor in self.tensors)
        names = [tensor.key.parameter for tensor in self.tensors]
        # Some writers sort the names: then the order of a file says nothing of the network.
        self.ordered = bool(structure.calls) or _SORTED * sum(a > b for a, b in pairwise(names)) > len(names)

    def node(self, path: str) -> Node:
        """The node of a path, made with all above it where it is new."""
        found = self.nodes.get(path)
        if found is not None:
            return found
        node = self.root
        for part in path.split(".", _DEEPEST):
            child = node.children.get(part)
            if child is None:
                child = node.children[part] = Node(part, node)
                self.nodes[child.path] = child
            node = child
        return node

    def _place(self, items: Sequence[Item]) -> None:
        names = {(one.key.module, one.key.index) for one in items if one.key.kind is Kind.PARAM}
        for place, item in enumerate(items):
            key = item.key
            path, leaf, slot = key.module, key.index, ""
            if key.kind is Kind.OPT:
                leaf, _, slot = leaf.partition(":")
            elif key.kind is Kind.PARAM:
                first, _, rest = path.partition(".")
                if first in SLOTS_BEFORE and (rest, leaf) in names:
                    path, slot = rest, first
            tensor = Tensor(key, item.shape, place, leaf, slot, key.kind in _PASSING)
            self.tensors.append(tensor)
            self.node(path).tensors.append(tensor)

    def _call(self, structure: Structure) -> None:
        for path in structure.types:
            self.node(path)
        for place, call in enumerate(structure.calls):
            node = self.node(call.path)
            node.order = min(node.order, place)
        for place, node in enumerate(self.root.below()):
            if node.order == _NOT_CALLED:
                node.order += place

    def _sign(self, types: Mapping[str, str], signatures: dict[Tag, int]) -> None:
        for node in reversed(list(self.root.below())):
            node.kind = kind_of(types.get(node.path, ""))
            _spell(node)
            node.owners = bool(node.leaves) + sum(child.owners for child in node.children.values())
            node.own_exact, node.own_loose = (_own_signature(node, loose, signatures) for loose in (False, True))
            node.exact, node.loose = (_signature(node, loose, signatures) for loose in (False, True))


def _spell(node: Node) -> None:
    common = common_leaves({tensor.leaf for tensor in node.tensors if not tensor.passing}, node.kind)
    for tensor in node.tensors:
        key = tensor.key
        if tensor.passing:
            tensor.tag = (key.phase, key.kind, key.call, key.index)
            continue
        leaf = common[tensor.leaf]
        # A moving average is a parameter in one framework and a buffer in the other.
        kind = Kind.OPT if tensor.slot else Kind.PARAM if key.kind is Kind.BUFFER else key.kind
        tensor.tag = (key.phase, kind, key.call, leaf, common_slot(tensor.slot))
        if kind is not Kind.OPT and node.leaves.get(leaf) is None:
            node.leaves[leaf] = tensor.shape


def _signature(node: Node, loose: bool, signatures: dict[Tag, int]) -> int:
    parts = [child.signature(loose) for child in node.children.values() if child.owners]
    own = node.own_signature(loose)
    if not all(parts) or (node.leaves and not own):
        return 0
    if not node.leaves and len(parts) == 1:
        return parts[0]
    return signatures.setdefault((own, *sorted(parts)), len(signatures) + 1) if parts else own


def _own_signature(node: Node, loose: bool, signatures: dict[Tag, int]) -> int:
    leaves = node.leaves
    telling = {leaf: shape for leaf, shape in leaves.items() if leaf not in STATISTICS} or leaves
    if loose:
        telling = {leaf: shape for leaf, shape in telling.items() if not leaf.startswith("bias")} or telling
    found: list[tuple[str, Shape]] = []
    for leaf, shape in sorted(telling.items()):
        if shape is None:
            return 0
        found.append((leaf, untransposed(shape) if loose else squeezed(shape)))
    # No signature is 0: that one is kept for what is unknown.
    return signatures.setdefault(("own", loose, *found), len(signatures) + 1) if found else 0
