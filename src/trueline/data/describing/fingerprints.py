"""Samples that are there more than once, by the hashes of their content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.described import Duplicates
from trueline.data.describing.sampling import Hashes
from trueline.data.describing.wanted import NAMED_SAMPLES
from trueline.data.source import Cell

# 24 bytes for each sample that is kept.
MAX_FINGERPRINTS: Final = 1_000_000
WHOLE: Final = 2**64

Indexes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Samples that repeat an earlier one, in order, and those of them whose label is another one."""

    samples: Indexes
    earlier: Indexes
    conflicting: npt.NDArray[np.bool_]


class Fingerprints:
    """Hashes of samples. Where they are too many, only those below a bound are kept: of these every copy is seen."""

    def __init__(self, most: int | None = MAX_FINGERPRINTS) -> None:
        self._most = most
        self.bound = WHOLE
        self._content: list[Hashes] = []
        self._label: list[Hashes] = []
        self._index: list[Indexes] = []
        self._count = 0

    @property
    def share(self) -> float:
        """The share of all contents that is looked at."""
        return self.bound / WHOLE

    def add(self, content: Hashes, label: Hashes, index: Indexes) -> None:
        """More samples."""
        if self.bound < WHOLE:
            kept = content < np.uint64(self.bound)
            content, label, index = content[kept], label[kept], index[kept]
        self._content.append(content)
        self._label.append(label)
        self._index.append(index)
        self._count += len(content)
        while self._most is not None and self._count > self._most:
            self._halve()

    def _halve(self) -> None:
        self.bound //= 2
        content, label, index = self._whole()
        kept = content < np.uint64(self.bound)
        self._content, self._label, self._index = [content[kept]], [label[kept]], [index[kept]]
        self._count = int(kept.sum())

    def _whole(self) -> tuple[Hashes, Hashes, Indexes]:
        # One after the other, so that no two are there twice.
        self._content = [np.concatenate(self._content)]
        self._label = [np.concatenate(self._label)]
        self._index = [np.concatenate(self._index)]
        return self._content[0], self._label[0], self._index[0]

    def repeated(self) -> Repeated:
        """All samples that repeat one before them."""
        if not self._count:
            none = np.empty(0, np.int64)
            return Repeated(none, none, np.empty(0, np.bool_))
        content, label, index = self._whole()
        order = np.lexsort((index, content))
        if len(order) < 1 << 31:
            order = order.astype(np.int32)
        new = np.ones(len(content), np.bool_)
        content = content[order]
        np.not_equal(content[1:], content[:-1], out=new[1:])
        del content
        starts, again = np.flatnonzero(new), np.flatnonzero(~new)
        first = order[starts[np.searchsorted(starts, again, side="right") - 1]]
        again = order[again]
        del order
        by_sample = np.argsort(index[again], kind="stable")
        again, first = again[by_sample], first[by_sample]
        return Repeated(index[again], index[first], label[again] != label[first])


def told(
    found: Repeated,
    *,
    share: float,
    left_out: Sequence[str],
    chance: float,
    labels: Callable[[Sequence[int]], list[Cell]],
) -> Duplicates:
    """What is said of them; ``labels`` gives those of some samples."""
    # Only the first become Python's numbers: there may be as many as there are samples.
    differs = np.flatnonzero(found.conflicting)
    pairs = list(zip(found.samples[:NAMED_SAMPLES].tolist(), found.earlier[:NAMED_SAMPLES].tolist(), strict=True))
    some = differs[:NAMED_SAMPLES]
    shown = list(zip(found.samples[some].tolist(), found.earlier[some].tolist(), strict=True))
    known = labels([sample for pair in shown for sample in pair]) if shown else []
    return Duplicates(
        count=len(found.samples),
        first=pairs,
        conflicting_count=len(differs),
        conflicting=[(*pair, known[2 * at], known[2 * at + 1]) for at, pair in enumerate(shown)],
        left_out=left_out,
        share=share,
        by_chance=chance,
    )
