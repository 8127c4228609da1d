"""What both sides' pipelines give, asked for with randomness fixed, again, and fixed otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.questions.parts import GiveBatches, Step, Transform
from trueline.pair.sides.side import Side

_SEEDS: Final = (0, 0, 1)


class Chance(StrEnum):
    """Whether a pipeline gives the same each time, the same for the same seed, or never the same."""

    NONE = "none"
    SEEDED = "seeded"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class Batches:
    """The first batches of a dataset, sample by sample: the arrays of each of its fields; ``sizes`` of the batches."""

    fields: Sequence[Sequence[Array]]
    sizes: Sequence[int] | None
    chance: Chance

    @property
    def batch(self) -> int | None:
        """How many samples a batch has; None where the dataset gives them one by one."""
        return self.sizes[0] if self.sizes else None


@dataclass(frozen=True, slots=True)
class Passage:
    """Samples through a list of transforms: for each sample what was there before the first step and after each."""

    steps: Sequence[Step]
    states: Sequence[Sequence[Array]]
    chance: Chance

    def at(self, place: int) -> list[Array]:
        """All samples after so many steps; -1 is after the last."""
        return [sample[place] for sample in self.states]


def ask_batches(side: Side, count: int) -> Batches:
    """The first ``count`` batches."""
    runs = [side.answer(GiveBatches("dataset", count, seed)) for seed in _SEEDS]
    flat = [[array for batch in run.batches for array in batch] for run in runs]
    fields = len(runs[0].batches[0])
    rows = [flat[0][place : place + fields] for place in range(0, len(flat[0]) - fields + 1, fields)]
    batched = not runs[0].single and all(array.ndim for array in rows[0])
    split = [[list(array) if batched else [array] for array in row] for row in rows]
    by_field = [[np.asarray(sample) for row in split for sample in row[place]] for place in range(fields)]
    lengths = [len(row[0]) for row in rows] if batched else None
    return Batches(by_field, lengths, chance_of(flat))


def ask_transforms(side: Side, count: int) -> Passage:
    """The first ``count`` raw samples through all steps."""
    runs = [side.answer(Transform(count, seed=seed)) for seed in _SEEDS]
    flat = [[array for sample in run.states for array in sample] for run in runs]
    return Passage(runs[0].steps, runs[0].states, chance_of(flat))


def ask_from(side: Side, first: int, arrays: Sequence[Array]) -> list[Array]:
    """These arrays through the steps from ``first`` on: what comes out at the end."""
    answer = side.answer(Transform(len(arrays), arrays, first))
    return [sample[-1] for sample in answer.states]


def chance_of(runs: Sequence[Sequence[Array]]) -> Chance:
    """Of three runs, the first two with the same seed: whether anything of them is random."""
    first, again, otherwise = runs
    if not _equal(first, again):
        return Chance.FREE
    return Chance.NONE if _equal(first, otherwise) else Chance.SEEDED


def _equal(first: Sequence[Array], second: Sequence[Array]) -> bool:
    return len(first) == len(second) and all(
        a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        for a, b in zip(first, second, strict=True)
    )
