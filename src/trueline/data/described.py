"""What is told of a dataset: field by field, its classes, its duplicates, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueline.data.source import Skipped


@dataclass(frozen=True, slots=True)
class Missing:
    """Values of one kind that stand for nothing: nan, +inf, -inf, null, empty, or a marker of the dataset's own."""

    kind: str
    count: int
    first: Sequence[int]
    marker: Any = None
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the sequences of a field are."""

    least: int
    most: int
    mean: float


@dataclass(frozen=True, slots=True)
class Padding:
    """What fills sequences up: on which side (left, right, mixed), with what, and the share of all elements it is."""

    side: str
    value: float
    share: float
    samples: int
    other_side: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Pictures:
    """The images of a field: how many of which size and mode, the first that are unlike most, and broken ones."""

    sizes: Mapping[str, int]
    modes: Mapping[str, int]
    odd: Sequence[int] = ()
    broken: int = 0
    broken_first: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """Samples whose values are of another type than most: how many, the first of them, and of what type."""

    usual: str
    other: str
    count: int
    first: Sequence[int]


@dataclass(frozen=True, slots=True)
class Told:
    """One field. ``kind``: number, integer, boolean, text, time, picture, sequence, array, bytes or other."""

    name: str
    kind: str
    type: str
    count: int
    missing: Sequence[Missing] = ()
    drift: Sequence[Drift] = ()
    distinct: int | None = None
    low: Any = None
    high: Any = None
    mean: float | None = None
    std: float | None = None
    quantiles: Mapping[str, float] = field(default_factory=dict)
    shapes: Mapping[str, int] = field(default_factory=dict)
    lengths: Lengths | None = None
    padding: Padding | None = None
    pictures: Pictures | None = None


@dataclass(frozen=True, slots=True)
class Classes:
    """How many samples each label has; ``out_of_range`` are labels that no class of the set can have."""

    field: str
    counts: Sequence[tuple[Any, int]]
    std: float
    ratio: float
    guessed: bool = False
    out_of_range: Sequence[tuple[int, Any]] = ()
    not_one_hot: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Samples that are there more than once; ``conflicting`` ones have another label: (sample, earlier, labels)."""

    count: int
    first: Sequence[tuple[int, int]] = ()
    conflicting_count: int = 0
    conflicting: Sequence[tuple[int, int, Any, Any]] = ()


@dataclass(frozen=True, slots=True)
class Described:
    """A whole dataset."""

    name: str
    kind: str
    samples: int
    fields: Sequence[Told]
    classes: Classes | None = None
    duplicates: Duplicates | None = None
    skipped: Skipped = field(default_factory=Skipped)
