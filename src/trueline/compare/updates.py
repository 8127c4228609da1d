"""Weights after an update that their gradients do not decide.

An adaptive optimizer divides a gradient by its own size: one that is zero but for rounding moves its weight by a whole
learning rate, up in one run and down in the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from trueline.compare.rows import Row, Tensors
from trueline.kernel.array import Array
from trueline.model.key import Key, Kind

_ADAPTIVE: Final = ("adam", "lamb", "rmsprop", "adagrad", "adadelta", "rprop", "lion", "adafactor", "adan")
# Gradients further apart than this share of themselves do not tell where an update goes.
_UNDECIDED: Final = 0.01
# Both may go a whole learning rate, one up and one down; early steps of some formulas go a little further.
_FURTHEST: Final = 2.5
_LARGEST: Final = 1 << 26


def is_adaptive(kind: str) -> bool:
    """Whether an optimizer divides gradients by their size."""
    return any(name in kind.lower() for name in _ADAPTIVE)


def excuse_undecided(compared: Tensors, lr: float) -> Tensors:
    """The same without the weights whose only difference is one that their gradients leave open."""
    gradients = {row.pair.b: row for row in compared.rows if row.pair.b.kind is Kind.GRAD and not row.differs}
    rows = [_excused(row, gradients, lr) for row in compared.rows]
    if all(after is before for after, before in zip(rows, compared.rows, strict=True)):
        return compared
    first = next((place for place, row in enumerate(rows) if row.differs), None)
    seen = max(row.level for row, before in zip(rows, compared.rows, strict=True) if row is not before)
    agree = compared.inputs_agree if first == compared.first else None
    return replace(compared, rows=rows, first=first, inputs_agree=agree, seen=max(compared.seen, seen), switched=True)


def _excused(row: Row, gradients: Mapping[Key, Row], lr: float) -> Row:
    key = row.pair.b
    if not row.differs or key.kind not in (Kind.PARAM, Kind.OPT) or row.distance.other_non_finite:
        return row
    leaf = key.index.partition(":")[0]
    gradient = gradients.get(replace(key, kind=Kind.GRAD, index=leaf))
    held = _arrays([row, gradient]) if gradient is not None else None
    if held is None:
        return row
    here, there, grad_here, grad_there = held
    apart = np.abs(here - there)
    outside = apart > row.floor.value * max(row.distance.max_ref, 1e-30)
    open_to = np.abs(grad_here - grad_there) > _UNDECIDED * np.maximum(np.abs(grad_here), np.abs(grad_there))
    near = apart <= _FURTHEST * lr if key.kind is Kind.PARAM else np.ones_like(outside)
    return replace(row, differs=False) if bool((open_to & near)[outside].all()) else row


def _arrays(rows: Sequence[Row | None]) -> list[Array] | None:
    found: list[Array] = []
    for row in rows:
        for side in (row.a, row.b) if row is not None else ():
            if side.stored is None or side.stored.count > _LARGEST:
                return None
            found.append(np.asarray(side.stored.array(), np.float64))
    return found if len({array.shape for array in found}) == 1 else None
