"""Which samples are shown: without replacement, at least one of every label, and the same ones for the same seed.

Every sample and every label has a number that follows from the seed; those with the smallest numbers are drawn. So one
pass is enough, in any chunks, and what is held are the drawn ones only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.data.sheet.labels import Label, in_order, is_class, told_label
from trueline.data.source import Cell, Chunk, Column, Source

_Numbers = npt.NDArray[np.uint64]
_PIECE: Final = 1 << 20
# More labels than this are not told apart any more: only that there are more.
_COUNTED: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Group:
    """A label, how many samples have it, and those that were drawn, in order."""

    label: Label
    total: int
    indexes: Sequence[int]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The drawn samples. ``labels`` is how many labels there are in all, None where samples have none to be grouped by.

    ``continuous`` says that there is a label which is no class but a number of its own for each sample.
    """

    samples: int
    groups: Sequence[Group]
    labels: int | None
    continuous: bool = False

    @property
    def indexes(self) -> list[int]:
        """All drawn samples, group by group."""
        return [index for group in self.groups for index in group.indexes]


def draw(source: Source, label: str | None, count: int, most_labels: int, seed: int) -> Drawn:
    """About ``count`` samples, evenly of at most ``most_labels`` labels; ``label`` is the field that holds them."""
    if label is None:
        return _without_labels(source, count, seed)
    pools = _Pools(count, most_labels, seed)
    for chunk in source.chunks([label]):
        pools.take(chunk, label)
    if pools.continuous or not pools.by_label:
        return Drawn(pools.all.total, _one_group(pools.all), None, pools.continuous)
    return Drawn(pools.all.total, _even(pools, count), pools.distinct)


def _without_labels(source: Source, count: int, seed: int) -> Drawn:
    pool = _Pool(count)
    for begin, size in _pieces(source):
        indexes = np.arange(begin, begin + size, dtype=np.uint64)
        pool.add(indexes, _numbers(indexes, seed))
    return Drawn(pool.total, _one_group(pool), None)


def _pieces(source: Source) -> Iterator[tuple[int, int]]:
    if source.length is not None:
        yield from ((begin, min(_PIECE, source.length - begin)) for begin in range(0, source.length, _PIECE))
        return
    for chunk in source.chunks(source.fields[:1]):
        yield chunk.start, chunk.size


def _one_group(pool: _Pool) -> list[Group]:
    return [Group(None, pool.total, pool.drawn(pool.most))] if pool.total else []


def _even(pools: _Pools, count: int) -> list[Group]:
    """As many of each label as of every other, as far as there are so many."""
    # Who gets one more is decided by chance too, and not by who came first.
    shares = dict.fromkeys(sorted(pools.by_label, key=pools.number), 0)
    left = max(count, len(shares))
    while left:
        open_ones = [one for one, share in shares.items() if share < len(pools.by_label[one])][:left]
        if not open_ones:
            break
        for one in open_ones:
            shares[one] += 1
        left -= len(open_ones)
    return [
        Group(label, pools.by_label[label].total, pools.by_label[label].drawn(shares[label]))
        for label in in_order(list(shares))
    ]


def _numbers(indexes: _Numbers, seed: int) -> _Numbers:
    """A number for each sample, by splitmix64."""
    with np.errstate(over="ignore"):
        start = ((seed + 1) * 0xD1342543DE82EF95) % (1 << 64)
        mixed = (indexes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: _Numbers = mixed ^ (mixed >> np.uint64(31))
    return found


@dataclass(slots=True)
class _Pool:
    """The samples with the smallest numbers, of all that were added."""

    most: int
    total: int = 0
    _indexes: _Numbers = field(default_factory=lambda: np.empty(0, np.uint64))
    _keys: _Numbers = field(default_factory=lambda: np.empty(0, np.uint64))

    def add(self, indexes: _Numbers, numbers: _Numbers) -> None:
        self.total += len(indexes)
        indexes = np.concatenate([self._indexes, indexes])
        numbers = np.concatenate([self._keys, numbers])
        kept = np.argsort(numbers, kind="stable")[: self.most]
        self._indexes, self._keys = indexes[kept], numbers[kept]

    def __len__(self) -> int:
        return len(self._indexes)

    def drawn(self, count: int) -> list[int]:
        return sorted(int(index) for index in self._indexes[:count])


class _Pools:
    """A pool for each of the labels with the smallest numbers, and one for all samples."""

    def __init__(self, count: int, most_labels: int, seed: int) -> None:
        self.all = _Pool(count)
        self.by_label: dict[Label, _Pool] = {}
        self.continuous = False
        self._count = count
        self._most = most_labels
        self._seed = seed
        self._numbers: dict[Label, int] = {}

    def number(self, label: Label) -> int:
        """What decides whether a label is chosen."""
        return self._numbers[label]

    @property
    def distinct(self) -> int:
        """How many labels there are; to have none is no label."""
        return len(self._numbers) - (None in self._numbers)

    def take(self, chunk: Chunk, label: str) -> None:
        indexes = np.arange(chunk.start, chunk.start + chunk.size, dtype=np.uint64)
        numbers = _numbers(indexes, self._seed)
        self.all.add(indexes, numbers)
        if self.continuous:
            return
        for one, places in _by_label(chunk.columns[label]):
            if not is_class(one):
                self.continuous = True
                return
            pool = self._pool(one)
            if pool is not None:
                pool.add(indexes[places], numbers[places])

    def _pool(self, label: Label) -> _Pool | None:
        """The label's pool, where it is one of those with the smallest numbers so far.

        One that is so at the end was so from its first sample on: nothing of it was missed.
        """
        if label in self.by_label:
            return self.by_label[label]
        if label not in self._numbers and len(self._numbers) < _COUNTED:
            digest = blake2b(f"{self._seed} {type(label).__name__} {label}".encode("utf-8", "replace"), digest_size=8)
            self._numbers[label] = int.from_bytes(digest.digest(), "little")
            if len(self.by_label) < self._most or self._numbers[label] < self._numbers[self._last()]:
                self.by_label[label] = _Pool(self._count)
                if len(self.by_label) > self._most:
                    del self.by_label[self._last()]
        return self.by_label.get(label)

    def _last(self) -> Label:
        return max(self.by_label, key=self._numbers.__getitem__)


def _by_label(column: Column) -> Iterator[tuple[Label, npt.NDArray[np.intp]]]:
    """The labels of a chunk, each with its places."""
    if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "biu":
        labels, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        places = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
        yield from ((told_label(label), at) for label, at in zip(labels, places, strict=True))
        return
    found: dict[Cell, list[int]] = {}
    for place, value in enumerate(column):
        found.setdefault(told_label(value), []).append(place)
    yield from ((label, np.array(at, np.intp)) for label, at in found.items())
