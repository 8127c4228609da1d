"""Tensors without a counterpart that may be the other side's, cut or laid otherwise: by shapes, and where they are.

A cut is a guess. Values decide.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import prod
from typing import Final

from trueline.compare.align.spelling import words_of
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.questions.described import Described

_MOST_PIECES: Final = 32
_NUMBER: Final = re.compile(r"\d+")
Shape = tuple[int, ...]


class Lay(Enum):
    """How pieces lie in the whole: with its axes, as matrices turned over, or with several of its axes as one."""

    SAME = 0
    TURNED = 1
    FLAT = 2


@dataclass(frozen=True, slots=True)
class Cut:
    """Pieces as they may be, and the innermost block of both sides that holds them all, the benchmark's path first.

    ``whole`` is the same for tensors at the same place of blocks of the same classes, ``kind`` for their cuts, too.
    """

    pieces: Pieces
    lay: Lay
    block: tuple[str, str]
    whole: Hashable
    kind: Hashable


def cuts(aligned: Aligned) -> Iterator[list[Cut]]:
    """For each tensor that may be in pieces on the other side, or lie otherwise there, the ways that shapes allow."""
    bench, port = _Lone(aligned, of_port=False), _Lone(aligned, of_port=True)
    for whole, parts in ((bench, port), (port, bench)):
        for parameter in whole.tensors:
            found = sorted(_cuts_of(parameter, whole, parts), key=_unlikeness)
            if found:
                yield found


@dataclass(frozen=True)
class _Lone:
    """The tensors of a side without a counterpart, in the order of their definition."""

    aligned: Aligned
    of_port: bool

    @property
    def described(self) -> Described:
        return self.aligned.port if self.of_port else self.aligned.bench

    @cached_property
    def tensors(self) -> list[ParamInfo]:
        lone = self.aligned.only_port if self.of_port else self.aligned.only_bench
        order = {parameter.name: place for place, parameter in enumerate(self.described.parameters)}
        return sorted(lone, key=lambda parameter: order.get(parameter.name, 0))

    @cached_property
    def blocks(self) -> dict[str, str]:
        """The other side's path of every block that has one: of modules that hold others."""
        holding = {path.rpartition(".")[0] for path in self.described.types} | {""}
        pairs = self.aligned.modules.items() if self.of_port else ((b, a) for a, b in self.aligned.modules.items())
        return {path: other for path, other in pairs if path in holding}

    def path(self, parameter: ParamInfo) -> str:
        return self.described.paths.get(parameter.name, parameter.name)

    def block(self, path: str) -> str | None:
        """The innermost block around a tensor that has a counterpart."""
        while path:
            path = path.rpartition(".")[0]
            if path in self.blocks:
                return path
        return None


def _cuts_of(parameter: ParamInfo, whole: _Lone, parts: _Lone) -> Iterator[Cut]:
    path = whole.path(parameter)
    block = whole.block(path)
    if block is None or parameter.shape is None:
        return
    other = whole.blocks[block]
    inside = [part for part in parts.tensors if _is_below(parts.path(part), other)]
    of_port = parts.of_port
    types = whole.described.types.get(block, ""), parts.described.types.get(other, "")
    for run in _runs(inside, parts, other):
        for axis, lay in _axes(tuple(parameter.shape), [tuple(part.shape or ()) for part in run]):
            if len(run) == 1 and not of_port:
                continue
            sides = ([parameter], run) if of_port else (run, [parameter])
            pieces = Pieces(*sides, axis, lay is Lay.TURNED)
            names = tuple(_plain(parts.path(part), other) for part in run)
            kind = (names if len(set(names)) > 1 else names[:1], axis, lay)
            around = (block, other) if of_port else (other, block)
            yield Cut(pieces, lay, around, (types, of_port, _plain(path, block)), kind)


def _unlikeness(cut: Cut) -> tuple[int, int, int]:
    """Pieces with the words of the whole come first, of all the same name; then those that lie as it does."""
    pieces = cut.pieces
    words = [words_of(parameter.name.rpartition(".")[2]) for parameter in (pieces.whole, *pieces.parts)]
    shared = sum(bool({*words[0]} & {*others}) for others in words[1:])
    different = len({tuple(others) for others in words[1:]})
    return -(shared == len(words) - 1) * 2 - (different == 1), len(pieces.parts), cut.lay.value


def _runs(tensors: Sequence[ParamInfo], side: _Lone, block: str) -> Iterator[list[ParamInfo]]:
    """Single tensors, and neighbours among those of one module, or of one name in neighbouring modules.

    They stand in the block's own code, or each in a block of its own.
    """
    families: dict[Hashable, list[ParamInfo]] = {}
    for parameter in tensors:
        path = side.path(parameter)
        owner, _, leaf = path.rpartition(".")
        families.setdefault(("module", owner), []).append(parameter)
        families.setdefault(("name", owner.rpartition(".")[0], leaf), []).append(parameter)
        families.setdefault(("number", _NUMBER.sub("*", path)), []).append(parameter)
    seen: set[tuple[str, ...]] = set()
    for family in families.values():
        for first in range(len(family)):
            for count in range(1, min(_MOST_PIECES, len(family) - first) + 1):
                run = family[first : first + count]
                names = tuple(parameter.name for parameter in run)
                holders = [side.block(side.path(parameter)) for parameter in run]
                apart = set(holders) == {block} or len(set(holders)) == len(run)
                if apart and names not in seen:
                    seen.add(names)
                    yield run


def _axes(whole: Shape, parts: Sequence[Shape]) -> Iterator[tuple[int, Lay]]:
    """Along which axes of a tensor others lie one after the other, and how they do."""
    total = prod(whole)
    sizes = [prod(part) for part in parts]
    if sum(sizes) != total or not total or not all(sizes):
        return
    for axis, side in enumerate(whole):
        others = total // side
        if side < len(parts) or any(size % others for size in sizes) or (len(parts) == 1 and axis):
            continue
        slices = [_squeezed((*whole[:axis], size // others, *whole[axis + 1 :])) for size in sizes]
        given = [_squeezed(part) for part in parts]
        if slices == given:
            yield axis, Lay.SAME
        elif all(_is_flat(a, b) for a, b in zip(slices, given, strict=True)):
            yield axis, Lay.FLAT
        if all(len(a) == len(b) == 2 and a == b[::-1] for a, b in zip(slices, given, strict=True)):
            yield axis, Lay.TURNED


def _is_flat(part: Shape, given: Shape) -> bool:
    """Whether a shape is another one, or that with neighbouring axes taken as one."""
    if len(given) > len(part):
        part, given = given, part
    place = 0
    for side in given:
        product = 1
        while place < len(part) and product < side:
            product *= part[place]
            place += 1
        if product != side:
            return False
    return place == len(part)


def _squeezed(shape: Shape) -> Shape:
    return tuple(side for side in shape if side != 1)


def _is_below(path: str, module: str) -> bool:
    return not module or path.startswith(f"{module}.")


def _plain(path: str, block: str) -> str:
    """A path in its block, without numbers."""
    return _NUMBER.sub("*", path[len(block) + bool(block) :])
