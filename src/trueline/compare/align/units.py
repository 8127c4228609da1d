"""The parts of a module that have no partner yet, and in what two of them are alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from trueline.compare.align.spelling import spelled
from trueline.compare.align.tree import Node, Tree

ENOUGH_LIKE: Final = 0.3
_DIGITS: Final = "0123456789"
_CLEARLY: Final = 0.1


class Unit(NamedTuple):
    """An unmatched part of a group, and its path within the group; ``own`` is a module without what is below it."""

    node: Node
    parts: tuple[str, ...]
    own: bool = False

    @property
    def free(self) -> bool:
        """Whether nothing of it is matched."""
        return self.node.partner is None and (self.own or not self.node.touched)

    @property
    def core(self) -> Node:
        """The module inside wrappers that hold nothing else."""
        node = self.node
        while not node.leaves:
            within = [child for child in node.children.values() if child.owners]
            if len(within) != 1:
                return node
            node = within[0]
        return node

    @property
    def within(self) -> list[Unit]:
        """Its parts: the modules inside, and its own tensors."""
        units = [Unit(child, (*self.parts, child.name)) for child in self.node.children.values() if child.owners]
        return [Unit(self.node, self.parts, own=True), *units] if self.node.leaves else units

    @property
    def words(self) -> tuple[str, ...]:
        """Its path without numbers: they are places, not names."""
        return tuple(word for part in self.parts if (word := part.strip(_DIGITS)))

    @property
    def label(self) -> tuple[str, tuple[int, ...]]:
        """``layers.3`` and ``layer3`` are (layer, (3,))."""
        numbers: list[int] = []
        for part in reversed(self.parts):
            word = spelled(part)
            if word.ordinal is not None:
                numbers.insert(0, word.ordinal)
            if word.stem:
                return word.stem, tuple(numbers)
        return "", tuple(numbers)


def with_open(tree: Tree) -> set[Node]:
    """The nodes that have a module without a partner below them."""
    found: set[Node] = set()
    for node in tree.nodes.values():
        if node.leaves and node.partner is None:
            above = node.parent
            while above is not None and above not in found:
                found.add(above)
                above = above.parent
    return found


def open_units(top: Node) -> list[Unit]:
    """The largest parts below a node of which nothing is matched."""
    found: list[Unit] = []
    waiting = [Unit(child, (child.name,)) for child in reversed(top.children.values())]
    while waiting:
        unit = waiting.pop()
        node = unit.node
        if node.partner is not None or not node.owners:
            continue
        if node.touched and not unit.own:
            waiting.extend(reversed(unit.within))
        else:
            found.append(unit)
    return found


Family = Mapping[tuple[int, ...], Unit]
Families = Mapping[str, Family]


def families(units: Iterable[Unit]) -> Families:
    """Units by their words and numbers; words that two units share with the same numbers are left out."""
    found: dict[str, dict[tuple[int, ...], Unit]] = defaultdict(dict)
    twice: set[str] = set()
    for unit in units:
        stem, numbers = unit.label
        if numbers in found[stem]:
            twice.add(stem)
        found[stem][numbers] = unit
    return {stem: family for stem, family in found.items() if stem not in twice}


def bag(node: Node) -> Counter[int]:
    """The signatures of the modules below."""
    return Counter(one.loose for one in node.below() if one.leaves and not one.children)


def shared(a: Counter[int], b: Counter[int]) -> float:
    """How much two bags have in common, 0 to 1."""
    common = sum((a & b).values())
    return common / max(1, a.total() + b.total() - common)


def clear_best(row: Sequence[float], least: float = ENOUGH_LIKE) -> int | None:
    """The place of the best, if it is good enough and clearly better than the rest."""
    best = max(range(len(row)), key=row.__getitem__)
    rest = max((value for place, value in enumerate(row) if place != best), default=0.0)
    return best if row[best] >= least and row[best] >= rest + _CLEARLY else None
