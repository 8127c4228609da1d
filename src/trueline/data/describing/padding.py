"""What fills sequences up to one length, and on which side; found by runs of one value at their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.described import Padding
from trueline.data.describing.wanted import NAMED_SAMPLES
from trueline.kernel.array import Array

_CANDIDATES: Final = 4
# Padding is a habit of the whole set: so many sequences show what they are filled up with.
_SAMPLED_SEQUENCES: Final = 2000
# Inside of sequences a value that fills them up is as rare as this, and so are sequences with it on both sides.
_RARE_INSIDE, _RARE_BOTH = 0.01, 0.05
_MIXED: Final = 0.2


@dataclass(slots=True)
class _Ends:
    """Of one value: in how many sequences it stands at an end, how often in all and inside, and the first of them."""

    left: int = 0
    right: int = 0
    both: int = 0
    filled: int = 0
    inside: int = 0
    longer_left: list[int] = field(default_factory=list)
    longer_right: list[int] = field(default_factory=list)
    first_left: list[int] = field(default_factory=list)
    first_right: list[int] = field(default_factory=list)
    lengths: set[int] = field(default_factory=set)


class PaddingGatherer:
    """Sequences of numbers that go by."""

    def __init__(self) -> None:
        self._ends: dict[float, _Ends] = {}
        self._elements = 0
        self._samples = 0

    def add(self, rows: Array, index: npt.NDArray[np.int64]) -> None:
        """Sequences of one length, one a row."""
        if rows.ndim != 2 or rows.shape[1] < 2 or not len(rows):
            return
        if self._samples < _SAMPLED_SEQUENCES:
            self._choose(rows)
        self._samples += len(rows)
        self._elements += rows.size
        for value, ends in self._ends.items():
            self._count(rows == value, index, ends)

    def _choose(self, rows: Array) -> None:
        """Values that end some sequences twice over; those of the first sequences, so that few need be counted."""
        counts: Counter[float] = Counter()
        for near, next_to in ((0, 1), (-1, -2)):
            same = rows[rows[:, near] == rows[:, next_to], near]
            values, times = np.unique(same[np.isfinite(same)] if same.dtype.kind == "f" else same, return_counts=True)
            counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        for value, _ in counts.most_common(_CANDIDATES):
            if len(self._ends) < _CANDIDATES:
                self._ends.setdefault(value, _Ends())

    def _count(self, filled: npt.NDArray[np.bool_], index: npt.NDArray[np.int64], ends: _Ends) -> None:
        width = filled.shape[1]
        left = np.where(filled.all(1), 0, np.argmin(filled, 1))
        right = np.where(filled.all(1), width, np.argmin(filled[:, ::-1], 1))
        only_left, only_right = (left > 0) & (right == 0), (right > 0) & (left == 0)
        ends.left += int(only_left.sum())
        ends.right += int(only_right.sum())
        ends.both += int(((left > 0) & (right > 0)).sum())
        ends.filled += int(left.sum() + right.sum())
        ends.inside += int(filled.sum() - left.sum() - right.sum())
        if len(ends.lengths) < 3:
            ends.lengths.update(np.unique(left + right).tolist())
        for chosen, run, first, longer in (
            (only_left, left, ends.first_left, ends.longer_left),
            (only_right, right, ends.first_right, ends.longer_right),
        ):
            first += index[chosen][: NAMED_SAMPLES - len(first)].tolist()
            longer += index[chosen & (run > 1)][: NAMED_SAMPLES - len(longer)].tolist()

    def told(self) -> Padding | None:
        """The value that most fills them up, where one does."""
        likely = [(value, ends) for value, ends in self._ends.items() if self._is_padding(ends)]
        if not likely:
            return None
        value, ends = max(likely, key=lambda candidate: candidate[1].filled)
        share = ends.filled / self._elements
        samples = ends.left + ends.right + ends.both
        few = min(ends.left, ends.right)
        usual = "right" if ends.right >= ends.left else "left"
        # Where the value is never inside, one at an end is padding, too.
        first: Sequence[int] = ends.first_left if usual == "right" else ends.first_right
        if ends.inside:
            first = ends.longer_left if usual == "right" else ends.longer_right
        side = "mixed" if first and few > _MIXED * (ends.left + ends.right) else usual
        return Padding(side, float(value), share, samples, first, few if first else 0)

    def _is_padding(self, ends: _Ends) -> bool:
        padded = ends.left + ends.right + ends.both
        return (
            padded > 1
            and len(ends.lengths) > 1 + (padded < self._samples)
            and ends.both <= _RARE_BOTH * padded
            and ends.inside <= _RARE_INSIDE * max(1, self._elements - ends.filled)
        )
