"""Tensors that names leave over, paired where the same values are in just one place on both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from trueline.compare.align import Alignment, Layout, Leftover, Pair, Reason
from trueline.kernel import fingerprint
from trueline.model.finding import Certainty
from trueline.model.key import Key

if TYPE_CHECKING:
    from trueline.compare.rows import Tensor

# Fewer elements, or fewer different ones, may be the same by chance.
_MIN_ELEMENTS: Final = 4
# Every unaligned tensor is read.
_MAX_UNALIGNED: Final = 20_000
# The elements that are counted for distinct ones.
_HEAD_ELEMENTS: Final = 4096


def pair_by_values(alignment: Alignment, a: Mapping[Key, Tensor], b: Mapping[Key, Tensor]) -> Alignment:
    """Add the pairs that only their values tell."""
    if not alignment.only_a or not alignment.only_b or len(alignment.only_a) + len(alignment.only_b) > _MAX_UNALIGNED:
        return alignment
    here, there = _places(alignment.only_a, a), _places(alignment.only_b, b)
    pairs = [
        Pair(here[mark][0], there[mark][0], Reason.VALUES, Certainty.LIKELY, Layout.SAME)
        for mark in here
        if len(here[mark]) == 1 and len(there.get(mark, ())) == 1
    ]
    if not pairs:
        return alignment
    taken_a, taken_b = {pair.a for pair in pairs}, {pair.b for pair in pairs}
    order = {key: place for place, key in enumerate(b)}
    return replace(
        alignment,
        pairs=sorted([*alignment.pairs, *pairs], key=lambda pair: order[pair.b]),
        only_a=[leftover for leftover in alignment.only_a if leftover.key not in taken_a],
        only_b=[leftover for leftover in alignment.only_b if leftover.key not in taken_b],
    )


def _places(left: Sequence[Leftover], tensors: Mapping[Key, Tensor]) -> dict[tuple[object, ...], list[Key]]:
    found: dict[tuple[object, ...], list[Key]] = {}
    for leftover in left:
        tensor = tensors[leftover.key]
        mark = _mark(tensor)
        if mark is not None:
            # What a module gives is never what it keeps.
            found.setdefault((leftover.key.kind, leftover.key.phase, *mark), []).append(leftover.key)
    return found


def _mark(tensor: Tensor) -> tuple[object, ...] | None:
    stored = tensor.stored
    if stored is None or stored.member is not None or len(stored.segments) != 1 or stored.count < _MIN_ELEMENTS:
        return None
    array = stored.array()
    head = array.reshape(-1)[:_HEAD_ELEMENTS] if array.flags.c_contiguous else array.ravel()[:_HEAD_ELEMENTS]
    if np.unique(head).size < _MIN_ELEMENTS:
        return None
    return tuple(side for side in stored.shape if side != 1), str(stored.dtype), fingerprint(array)
