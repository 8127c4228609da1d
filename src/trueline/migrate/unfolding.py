"""A weight for a target that keeps it as weight norm does: its length and its direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trueline.formats.outgoing import whole
from trueline.kernel.array import Array
from trueline.migrate.held import Held
from trueline.migrate.plan import Move
from trueline.migrate.target import Wanted
from trueline.model.message import message

_WAYS: Final = (("{}_g", "{}_v"), ("parametrizations.{}.original0", "parametrizations.{}.original1"))
_LEAF: Final = "weight"


@dataclass(frozen=True, slots=True)
class Joined:
    """The target with each such pair of names replaced by the one weight; ``pairs`` are what it stands for."""

    wanted: Sequence[Wanted]
    pairs: dict[str, tuple[Wanted, Wanted]]


def join(wanted: Sequence[Wanted]) -> Joined:
    """Find the weights that the target keeps in two parts."""
    by_name = {one.name: one for one in wanted}
    pairs: dict[str, tuple[Wanted, Wanted]] = {}
    gone: set[str] = set()
    for length, direction in ((a.format(_LEAF), b.format(_LEAF)) for a, b in _WAYS):
        for parameter in wanted:
            module = parameter.name.removesuffix(length)
            other = by_name.get(module + direction) if module != parameter.name else None
            # Spectral norm has a vector of that name too, but nothing of this length.
            if other is not None and len(other.shape) == len(parameter.shape) and module + _LEAF not in by_name:
                pairs[module + _LEAF] = (parameter, other)
                gone.update((parameter.name, other.name))
    weights = {direction.name: Wanted(name, direction.shape) for name, (_, direction) in pairs.items()}
    kept = [weights.get(one.name, one) for one in wanted if one.name in weights or one.name not in gone]
    return Joined(kept, pairs)


def part(move: Move, pair: tuple[Wanted, Wanted]) -> list[Move]:
    """The two arrays that make up the weight of a move."""
    length, direction = pair
    held = move.held

    def lengths() -> Array:
        array = whole(move.outgoing()).reshape(direction.shape).astype(np.float64)
        axes = tuple(axis for axis, side in enumerate(length.shape) if side == 1)
        return np.asarray(np.sqrt((array * array).sum(axis=axes, keepdims=True)).astype(held.dtype))

    done = (*move.done, message("convert.parted", length=length.name, direction=direction.name))
    made = Held(held.name, length.shape, held.dtype, lengths, parts=held.names)
    return [
        replace(move, held=made, name=length.name, shape=length.shape, done=done, transposed=False),
        replace(move, name=direction.name, shape=direction.shape, done=done),
    ]
