"""What both sides' pipelines give, asked for with randomness fixed, again, and fixed otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

import numpy as np

from trueline.kernel.array import Array
from trueline.model.location import Location
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
class Step:
    """One transform: its name, its plain settings, and the user's line where it is defined."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    line: Location | None = None

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Read what the side's process tells."""
        line = Location.from_line_json(found["line"]) if found["line"] is not None else None
        return cls(found["name"], found["settings"], line)

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={_short(value)}" for name, value in self.settings.items() if value is not None)
        return f"{self.name}({settings})"[:160]


@dataclass(frozen=True, slots=True)
class Passage:
    """Samples through a list of transforms: for each sample what was there before the first step and after each."""

    steps: Sequence[Step]
    states: Sequence[Sequence[Array]]
    chance: Chance

    def at(self, place: int) -> list[Array]:
        """All samples after so many steps; -1 is after the last."""
        return [one[place] for one in self.states]


def ask_batches(side: Side, count: int) -> Batches:
    """The first ``count`` batches."""
    runs: list[tuple[list[int], list[Array], bool]] = []
    for seed in _SEEDS:
        content, arrays = side.ask({"do": "batches", "of": "dataset", "count": count, "seed": seed})
        runs.append((content["batches"], arrays, content["single"]))
    sizes, arrays, single = runs[0]
    fields = sizes[0]
    rows = [arrays[place : place + fields] for place in range(0, len(arrays) - fields + 1, fields)]
    batched = not single and all(one.ndim for one in rows[0])
    split = [[list(one) if batched else [one] for one in row] for row in rows]
    by_field = [[np.asarray(sample) for row in split for sample in row[place]] for place in range(fields)]
    lengths = [len(row[0]) for row in rows] if batched else None
    return Batches(by_field, lengths, chance_of([one for _, one, _ in runs]))


def ask_transforms(side: Side, count: int) -> Passage:
    """The first ``count`` raw samples through all steps."""
    runs: list[Passage] = [_passage(side, {"count": count, "seed": seed}) for seed in _SEEDS]
    flat = [[array for one in run.states for array in one] for run in runs]
    return Passage(runs[0].steps, runs[0].states, chance_of(flat))


def ask_from(side: Side, first: int, arrays: Sequence[Array]) -> list[Array]:
    """These arrays through the steps from ``first`` on: what comes out at the end."""
    return _passage(side, {"count": len(arrays), "first": first}, arrays).at(-1)


def _passage(side: Side, asked: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Passage:
    content, found = side.ask({"do": "transform", **asked}, arrays)
    each = len(found) // max(content["samples"], 1)
    states = [found[place : place + each] for place in range(0, len(found), each)] if each else []
    return Passage([Step.from_json(one) for one in content["steps"]], states, Chance.NONE)


def chance_of(runs: Sequence[Sequence[Array]]) -> Chance:
    """Of three runs, the first two with the same seed: whether anything of them is random."""
    first, again, otherwise = runs
    if not _equal(first, again):
        return Chance.FREE
    return Chance.NONE if _equal(first, otherwise) else Chance.SEEDED


def _equal(one: Sequence[Array], other: Sequence[Array]) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        for a, b in zip(one, other, strict=True)
    )


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "[" + ", ".join(_short(one) for one in value) + "]"
    return str(value)
