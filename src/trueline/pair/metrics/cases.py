"""Predictions and labels that show what a metric counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.metrics.forms import Batch

_CLASSES: Final = 7
_MOST_SIDE: Final = 6
_SIZES: Final = (11, 11, 4)


class Kind(StrEnum):
    """What a metric takes: scores by class, classes, or one value for each label."""

    SCORES = "scores"
    DENSE = "dense"
    CLASSES = "classes"


@dataclass(frozen=True, slots=True)
class Case:
    """Batches for one number; ``last`` where the classes of predictions come last and not after the batch."""

    name: str
    batches: Sequence[Batch]
    last: bool = False

    @property
    def class_second(self) -> list[Batch]:
        """The batches as the NumPy forms take them."""
        if not self.last:
            return list(self.batches)
        return [
            (np.moveaxis(found, -1, 1) if found.ndim > wanted.ndim else found, wanted) for found, wanted in self.batches
        ]


def makings(outputs: Sequence[Array] | None, seed: int) -> list[Making]:
    """Where the classes may lie in predictions of the shape of ``outputs``, the likely place first."""
    if not outputs:
        return [Making((_CLASSES,), seed)]
    shape = outputs[0].shape[1:]
    if len(shape) != 2:
        return [Making(shape, seed)]
    # Two axes in a sample are more often a sequence of scores than scores of a sequence.
    return [Making(shape[::-1], seed, last=True), Making(shape, seed)]


class Making:
    """Draws predictions of a shape (one sample's, classes first) with labels that are often right."""

    def __init__(self, shape: tuple[int, ...], seed: int, *, last: bool = False) -> None:
        self.last = last
        self.classes = shape[0] if shape else 1
        self.inside = tuple(min(side, _MOST_SIDE) for side in shape[1:])
        self.random = np.random.default_rng(seed)

    @property
    def kinds(self) -> list[Kind]:
        """What may be taken, the likely first."""
        return list(Kind) if self.classes > 1 else [Kind.DENSE, Kind.CLASSES]

    def cases(self, kind: Kind, *, several: bool) -> Iterator[Case]:
        """All cases; with ``several`` also one of batches of different sizes."""
        for seed in range(3):
            yield self.case(f"seed_{seed}", [self.batch(kind, 17 + 6 * seed)])
        yield self.case("missing_classes", [self.batch(kind, 19, few=True)])
        if several:
            yield self.case("batches", [self.batch(kind, size) for size in _SIZES])
        if kind is Kind.SCORES:
            yield self.case("ties", [self.batch(kind, 23, ties=True)])

    def case(self, name: str, batches: Sequence[Batch]) -> Case:
        """A case of these batches."""
        return Case(name, batches, self.last)

    def batch(self, kind: Kind, size: int, *, few: bool = False, ties: bool = False) -> Batch:
        """Predictions and labels; ``few`` leaves classes out, ``ties`` makes scores equal."""
        if kind is Kind.DENSE:
            shape = (size, self.classes, *self.inside)
            drawn = self.random.uniform(0.0, 1.0, (2, *shape)).astype(np.float32)
            return self._placed(drawn[0]), self._placed(drawn[1])
        shape = (size, *self.inside)
        most = max(2, self.classes // 2) if few else max(self.classes, 2)
        labels = self.random.integers(0, most, shape).astype(np.int32)
        scores = self.random.normal(0.0, 1.0, (size, self.classes, *self.inside)).astype(np.float32)
        # Right more often than by chance, as a trained network is.
        helped = np.arange(self.classes).reshape(1, -1, *[1] * len(self.inside)) == np.expand_dims(labels, 1)
        scores += helped * self.random.uniform(0.0, 3.0, (size, 1, *[1] * len(self.inside))).astype(np.float32)
        if ties:
            scores = np.round(scores)
        if kind is Kind.CLASSES:
            return scores.argmax(1).astype(np.int32), labels
        return self._placed(scores), labels

    def _placed(self, array: Array) -> Array:
        return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if self.last else array
