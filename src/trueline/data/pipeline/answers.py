"""What the process of a pipeline answers, question by question: the JSON that goes through the pipe, for both ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

from trueline.model.json_value import Json

# A user's line as ``Location.line_json`` writes it.
LineJson: TypeAlias = Mapping[str, object] | None
# How many samples, and the indexes of the first.
Counted: TypeAlias = Sequence[int | Sequence[int]]

# What is told of a change: a number, a size as text, or a number for each channel.
Number: TypeAlias = float | str | Sequence[float]


class FieldJson(TypedDict, total=False):
    """One value of an operator's output: an ``evidence.Field``."""

    name: str
    types: Mapping[str, Counted]
    shapes: Mapping[str, Counted]
    dtypes: Mapping[str, Counted]
    nonfinite: Mapping[str, Counted]
    whole: Mapping[str, Counted]
    low: float | str | None
    high: float | str | None
    mean: float | str | None
    std: float | str | None
    apart: tuple[float, Sequence[int]] | None
    lacking: Sequence[int]


class ChangeJson(TypedDict):
    """What an operator did that none should: an ``evidence.Change``."""

    kind: str
    sample: int
    numbers: Mapping[str, Number]


class OperatorJson(TypedDict):
    """An operator with all that came out of it: an ``evidence.Operator``."""

    place: int
    name: str
    kind: str
    settings: Mapping[str, Json]
    columns: Sequence[str]
    line: LineJson
    called: LineJson
    calls: int
    seconds: float
    typical: float
    waited: float
    slowest: tuple[int, float] | None
    fields: Sequence[FieldJson]
    changes: Sequence[ChangeJson]


class ColumnsJson(TypedDict):
    """Columns that do not match: so many given where others are wanted, one missing or there twice."""

    wanted: Sequence[str]
    given: int
    missing: str | None
    twice: str | None


class FailureJson(TypedDict, total=False):
    """What was raised: an ``evidence.Failure``; ``batch`` are the samples that were to be put together."""

    kind: str
    error: str
    line: LineJson
    code: str
    doing: str
    sample: int | None
    operator: int | None
    columns: ColumnsJson | None
    function: str
    again: list[int]
    batch: Sequence[int]


class StepJson(TypedDict):
    """An operator that the first value of a sample has gone through."""

    name: str
    settings: Mapping[str, Json]
    line: LineJson


class Zipped(TypedDict):
    """Datasets side by side."""

    lengths: Sequence[int]
    line: LineJson


class Facts(TypedDict, total=False):
    """What a framework knows of a pipeline before it gives anything."""

    kind: str
    length: int | None
    indexed: bool
    workers: int | None
    sampler: str | None
    shuffles: bool | None
    asked_to_shuffle: bool
    batches: bool
    batch_size: int | None
    batch_line: LineJson
    classes: int | None
    zipped: Zipped | None
    line: LineJson


class Walk(TypedDict, total=False):
    """Of all samples: those that are nothing, and what the datasets hold that has changed."""

    nothing: Sequence[int]
    changed: Sequence[str]


class Length(TypedDict, total=False):
    """How many samples there are, and the line that says how many."""

    true: int | None
    line: LineJson


class Order(TypedDict, total=False):
    """The indexes that a sampler gives: ``told`` whether they would differ once it is told of the epoch."""

    known: bool
    count: Sequence[int]
    sorted: bool
    same: bool
    distinct: int
    outside: Sequence[int]
    outside_line: LineJson
    first: Sequence[int]
    told: bool
    line: LineJson
    stirs: bool
    failure: FailureJson


class Epochs(TypedDict, total=False):
    """The samples of a stream, epoch by epoch."""

    counts: Sequence[int]
    same: bool
    same_samples: bool
    line: LineJson
    stirs: bool
    used_up: LineJson
    begins: LineJson
    failure: FailureJson


class Repeat(TypedDict, total=False):
    """The same samples once more: which are other ones each time, and the first operator that makes them so."""

    looked: int
    random: Sequence[int]
    operator: int | None
    failure: FailureJson


class Workers(TypedDict, total=False):
    """Two workers, really started."""

    same: bool
    again: bool
    samples: Sequence[int]
    line: LineJson
    holder: str | None
    counted: int | None
    failure: FailureJson


class Pickled(TypedDict):
    """What cannot be handed to another process."""

    name: str | None
    line: LineJson


class Batches(TypedDict, total=False):
    """The pipeline's own batches: how many came, and what was raised instead of the next."""

    count: int
    failure: FailureJson
    pickled: Pickled


class Answers(TypedDict, total=False):
    """All that was answered, by the name of the question; none where it was not asked."""

    walk: Walk
    length: Length
    order: Order
    epochs: Epochs
    repeat: Repeat
    workers: Workers
    run: Batches
    lines: dict[str, LineJson]
