"""For what is left over: the likest tensor of the other side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from trueline.compare.align.result import Leftover
from trueline.compare.align.shapes import layout
from trueline.compare.align.spelling import path_likeness, words_of
from trueline.compare.align.tree import Tensor

_MOST_LOOKED_AT: Final = 16
# Of sides that have little in common nobody reads the nearest of each: the first ones have one.
_MOST_ANSWERED: Final = 1_000
_LIKE_ENOUGH: Final = 0.3
_PARTS: Final = 6


def leftovers(left: Sequence[Tensor], others: Sequence[Tensor], left_of_others: Sequence[Tensor]) -> list[Leftover]:
    """The tensors that are left, each with the likest one of the other side: one that is left too, where there is."""
    if not left:
        return []
    free = {id(one) for one in left_of_others}
    index = _Index([*left_of_others, *(one for one in others if id(one) not in free)])
    found = [_leftover(one, index.candidates(one), free) for one in left[:_MOST_ANSWERED]]
    return found + [Leftover(one.key) for one in left[_MOST_ANSWERED:]]


def _leftover(one: Tensor, candidates: Sequence[Tensor], free: set[int]) -> Leftover:
    best, likeness = None, 0.0
    for other in candidates:
        found = _likeness(one, other)
        if found > likeness or (found == likeness and best is not None and id(other) in free and id(best) not in free):
            best, likeness = other, found
    if best is None or likeness < _LIKE_ENOUGH:
        return Leftover(one.key)
    return Leftover(one.key, best.key, round(likeness, 3))


def _likeness(one: Tensor, other: Tensor) -> float:
    by_name = path_likeness(_parts(one), _parts(other))
    if one.shape is None or other.shape is None:
        return by_name
    return 0.6 * by_name + 0.4 * (layout(one.shape, other.shape) is not None)


def _parts(one: Tensor) -> tuple[str, ...]:
    path = tuple(one.key.module.rsplit(".", _PARTS)[-_PARTS:])
    return path if one.passing else (*path, str(one.tag[3]))


class _Index:
    """Tensors by kind with shape and by kind with word; rare ones are looked up first."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._by: dict[object, list[Tensor]] = defaultdict(list)
        for one in tensors:
            for sign in _signs(one):
                same = self._by[sign]
                if len(same) <= _MOST_LOOKED_AT:
                    same.append(one)

    def candidates(self, one: Tensor) -> list[Tensor]:
        """A handful that share the rarest signs."""
        found: dict[int, Tensor] = {}
        lists = sorted((self._by[sign] for sign in _signs(one) if sign in self._by), key=len)
        for tensors in lists:
            for other in tensors:
                found[id(other)] = other
            if len(found) >= _MOST_LOOKED_AT:
                break
        return list(found.values())[:_MOST_LOOKED_AT]


def _signs(one: Tensor) -> list[object]:
    kind = one.tag[1]
    parts = _parts(one)
    words = {word for part in parts[-3:] for word in words_of(part)}
    signs: list[object] = [(kind, parts[-3:]), *((kind, word) for word in words)]
    if one.shape is not None:
        signs.append((kind, one.shape, parts[-1] if not one.passing else ""))
    return signs
