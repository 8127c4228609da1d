"""What is told of a dataset: field by field, its classes, its duplicates, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.data.source import Cell, Skipped


@dataclass(frozen=True, slots=True)
class Missing:
    """Values of one kind that stand for nothing: nan, +inf, -inf, null, empty, or a marker of the dataset's own."""

    kind: str
    count: int
    first: Sequence[int]
    marker: Cell = None
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the sequences of a field are."""

    least: int
    most: int
    mean: float


@dataclass(frozen=True, slots=True)
class Padding:
    """What fills sequences up: on which side (left, right, mixed), with what, and the share of all elements it is.

    ``other_side`` are the first of ``other_count`` samples that are filled up on the other side than most.
    """

    side: str
    value: float
    share: float
    samples: int
    other_side: Sequence[int] = ()
    other_count: int = 0


@dataclass(frozen=True, slots=True)
class Pictures:
    """The images of a field: how many of which size and mode, first ones unlike most, and broken ones."""

    sizes: Mapping[str, int]
    modes: Mapping[str, int]
    odd: Sequence[int] = ()
    broken: int = 0
    broken_first: Sequence[str] = ()
    odd_sizes: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """Samples whose values are of another type (or shape) than most: how many, the first of them, and of what type.

    ``share`` is that of the usual type among all that have one.
    """

    usual: str
    other: str
    count: int
    first: Sequence[int]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Told:
    """One field. ``kind``: number, integer, boolean, text, time, picture, sequence, array, bytes or other.

    ``sampled`` says from how many samples quantiles and distinct values were estimated, None where all were looked at.
    """

    name: str
    kind: str
    type: str
    count: int
    missing: Sequence[Missing] = ()
    drift: Sequence[Drift] = ()
    distinct: int | None = None
    sampled: int | None = None
    low: Cell = None
    high: Cell = None
    mean: float | None = None
    std: float | None = None
    quantiles: Mapping[str, float] = field(default_factory=dict)
    shapes: Mapping[str, int] = field(default_factory=dict)
    lengths: Lengths | None = None
    padding: Padding | None = None
    pictures: Pictures | None = None


@dataclass(frozen=True, slots=True)
class Stray:
    """A label that no class of the set has; ``like`` is the one it may have been meant for.

    It is ``certain`` where the number of classes was given, or the set has names for them.
    """

    label: Cell
    count: int
    first: int
    like: Cell = None
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Classes:
    """How many samples each label has, the most frequent first; ``given`` is how many classes there should be.

    ``strays`` are labels outside of them: by what was given, else by a guess. They count in no other number.
    """

    field: str
    counts: Sequence[tuple[Cell, int]]
    std: float
    ratio: float
    guessed: bool = False
    given: int | None = None
    strays: Sequence[Stray] = ()
    one_hot: bool = False
    not_one_hot: int = 0
    not_one_hot_first: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Samples whose content (all fields but the label and ``left_out``) was there before.

    ``conflicting`` ones have another label than before: (sample, earlier, its label, the earlier one's). ``share`` is
    that of the samples looked at, chosen by content: of those all copies were seen. ``by_chance`` is how many such
    samples the fields' distinct values alone would let one expect.
    """

    count: int
    first: Sequence[tuple[int, int]] = ()
    conflicting_count: int = 0
    conflicting: Sequence[tuple[int, int, Cell, Cell]] = ()
    left_out: Sequence[str] = ()
    share: float = 1.0
    by_chance: float = 0.0


@dataclass(frozen=True, slots=True)
class Described:
    """A whole dataset; ``no_classes`` is a message id that says why there are none."""

    name: str
    kind: str
    samples: int
    fields: Sequence[Told]
    classes: Classes | None = None
    no_classes: str | None = None
    duplicates: Duplicates | None = None
    skipped: Skipped = field(default_factory=Skipped)
