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
    free = {id(tensor) for tensor in left_of_others}
    index = _Index([*left_of_others, *(tensor for tensor in others if id(tensor) not in free)])
    found = [_leftover(tensor, index.candidates(tensor), free) for tensor in left[:_MOST_ANSWERED]]
    return found + [Leftover(tensor.key) for tensor in left[_MOST_ANSWERED:]]


def _leftover(tensor: Tensor, candidates: Sequence[Tensor], free: set[int]) -> Leftover:
    best, likeness = None, 0.0
    for other in candidates:
        found = _likeness(tensor, other)
        if found > likeness or (found == likeness and best is not None and id(other) in free and id(best) not in free):
            best, likeness = other, found
    if best is None or likeness < _LIKE_ENOUGH:
        return Leftover(tensor.key)
    return Leftover(tensor.key, best.key, round(likeness, 3))


def _likeness(tensor: Tensor, other: Tensor) -> float:
    by_name = path_likeness(_parts(tensor), _parts(other))
    if tensor.shape is None or other.shape is None:
        return by_name
    return 0.6 * by_name + 0.4 * (layout(tensor.shape, other.shape) is not None)


def _parts(tensor: Tensor) -> tuple[str, ...]:
    path = tuple(tensor.key.module.rsplit(".", _PARTS)[-_PARTS:])
    return path if tensor.passing else (*path, str(tensor.tag[3]))


class _Index:
    """Tensors by kind with shape and by kind with word; rare ones are looked up first."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._by: dict[object, list[Tensor]] = defaultdict(list)
        for tensor in tensors:
            for sign in _signs(tensor):
                same = self._by[sign]
                if len(same) <= _MOST_LOOKED_AT:
                    same.append(tensor)

    def candidates(self, tensor: Tensor) -> list[Tensor]:
        """A handful that share the rarest signs."""
        found: dict[int, Tensor] = {}
        lists = sorted((self._by[sign] for sign in _signs(tensor) if sign in self._by), key=len)
        for tensors in lists:
            for other in tensors:
                found[id(other)] = other
            if len(found) >= _MOST_LOOKED_AT:
                break
        return list(found.values())[:_MOST_LOOKED_AT]


def _signs(tensor: Tensor) -> list[object]:
    kind = tensor.tag[1]
    parts = _parts(tensor)
    words = {word for part in parts[-3:] for word in words_of(part)}
    signs: list[object] = [(kind, parts[-3:]), *((kind, word) for word in words)]
    if tensor.shape is not None:
        signs.append((kind, tensor.shape, parts[-1] if not tensor.passing else ""))
    return signs
