"""What the user says about names: which are the same, and which do not matter."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from trueline.compare.align.map_file import read_map
from trueline.compare.align.matching import Matching
from trueline.compare.align.pairing import Pairing
from trueline.compare.align.result import Alignment, Reason
from trueline.compare.align.tree import Tensor, Tree
from trueline.compare.align.walk import walk
from trueline.model.finding import Certainty
from trueline.model.key import Key
from trueline.model.trouble import BadUsage


@dataclass(frozen=True, slots=True)
class Rules:
    """``mapping`` pairs a name of a with a name of b, the text of every ``*`` in one standing for that in the other.

    A name is a parameter's, or a module's with everything below it. ``ignore`` are patterns of names of either side.
    """

    mapping: Sequence[tuple[str, str]] = ()
    ignore: Sequence[str] = ()
    _ignored: re.Pattern[str] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.ignore:
            patterns = "|".join(fnmatch.translate(pattern) for pattern in self.ignore)
            object.__setattr__(self, "_ignored", re.compile(patterns))

    @classmethod
    def read(cls, map_file: Path | None, ignore: Sequence[str] = ()) -> Self:
        """The user's file and patterns; what cannot be meant is one BadFile or BadUsage."""
        if any(not pattern.strip() for pattern in ignore):
            raise BadUsage("align.empty_pattern")
        return cls(read_map(map_file) if map_file is not None else (), tuple(ignore))

    def ignores(self, key: Key) -> bool:
        """Whether the user left this tensor out: by its name, its module's or the whole key."""
        if self._ignored is None:
            return False
        return any(self._ignored.match(name) for name in (key.parameter, key.module, str(key)))

    def renamed(self, names: Iterable[str]) -> dict[str, str]:
        """Those of the names that a rule speaks of, each with the name it stands for; a rule of none is refused."""
        known = list(names)
        there = set(known)
        found: dict[str, str] = {}
        for rule in self.mapping:
            meant = {name: other for name, other in _meant(rule, known) if name in there}
            if not meant:
                raise BadUsage("align.rule_unused", rule=_text(rule))
            # The first rule of a name is the one that counts.
            found = meant | found
        return found

    def need_used(self, alignments: Iterable[Alignment]) -> None:
        """Refuse a rule that matched nothing in any of these: most likely a name is misspelt."""
        seen = [set(alignment.unused) for alignment in alignments]
        for rule in map(_text, self.mapping):
            if seen and all(rule in unused for unused in seen):
                raise BadUsage("align.rule_unused", rule=rule)


def _text(rule: tuple[str, str]) -> str:
    return " = ".join(rule)


def apply(rules: Rules, matching: Matching, pairing: Pairing) -> list[str]:
    """Match what the user's rules say; the rules that match nothing are returned."""
    if not rules.mapping:
        return []
    named_a, named_b = _by_name(matching.a), _by_name(matching.b)
    unused = []
    for rule in rules.mapping:
        found = False
        for name_a, name_b in _meant(rule, named_a):
            for a in named_a.get(name_a, ()):
                for b in named_b.get(name_b, ()):
                    if a.tag[:3] == b.tag[:3] and pairing.free((a, b)) == [a, b]:
                        pairing.take(a, b, Reason.MAP, Certainty.CERTAIN)
                        found = True
        for path_a, path_b in (*_meant(rule, matching.a.nodes), *_modules_meant(rule, matching.a.nodes)):
            if path_a in matching.a.nodes and path_b in matching.b.nodes:
                a_node, b_node = matching.a.nodes[path_a], matching.b.nodes[path_b]
                if a_node.partner is None and b_node.partner is None:
                    walk(matching, a_node, b_node, Reason.MAP, Certainty.CERTAIN)
                    found = True
        if not found:
            unused.append(_text(rule))
    return unused


def _modules_meant(rule: tuple[str, str], names: Iterable[str]) -> list[tuple[str, str]]:
    """``bn1.* = norm.*`` speaks of all that is in a module, whatever the other side calls it there."""
    name_a, name_b = rule
    if not (name_a.endswith(".*") and name_b.endswith(".*")):
        return []
    return list(_meant((name_a[:-2], name_b[:-2]), names))


def _by_name(tree: Tree) -> dict[str, list[Tensor]]:
    found: dict[str, list[Tensor]] = {}
    for tensor in tree.tensors:
        if not tensor.passing:
            name = tensor.key.parameter
            found.setdefault(name.partition(":")[0] if tensor.slot else name, []).append(tensor)
        found.setdefault(str(tensor.key), []).append(tensor)
    return found


def _meant(rule: tuple[str, str], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names of a that a rule speaks of, each with the name of b it stands for."""
    name_a, name_b = rule
    if "*" not in name_a:
        yield name_a, name_b
        return
    texts = name_b.split("*")
    for name in list(names):
        stars = _stars(name_a.split("*"), name)
        if stars is not None:
            yield name, "".join(text + star for text, star in zip(texts, (*stars, ""), strict=True))


def _stars(texts: Sequence[str], name: str) -> list[str] | None:
    """What stands for each star: the last takes what is left, the others as little as they can."""
    first, *middle, last = texts
    at, end = len(first), len(name) - len(last)
    if at > end or not name.startswith(first) or not name.endswith(last):
        return None
    stars = []
    for text in middle:
        found = name.find(text, at, end)
        if found < 0:
            return None
        stars.append(name[at:found])
        at = found + len(text)
    return [*stars, name[at:end]]
