"""The types of a framework's ``pipelines``: operators, rows, and the meter that operators are called through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypedDict

from trueline.adapters.nouns import Foreign, Function, Value
from trueline.model.json_value import Json
from trueline.model.location import Location

# The user's line that built an object, where it was seen.
BuiltAt = Callable[[Foreign], Location | None]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a pipeline. ``kind``: dataset, step, group, map, filter, batch, collate, sampler, source, other.

    ``line`` is the user's line that speaks of it: where it was built, else where it is defined. With ``channels_last``
    it takes images as height, width, channels, and nothing else.
    """

    name: str
    kind: str
    settings: Mapping[str, Json] = field(default_factory=dict)
    line: Location | None = None
    columns: Sequence[str] = ()
    channels_last: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One sample by its index in the source, or the exception raised instead."""

    index: int
    value: Value = None
    error: BaseException | None = None


class ZippedFacts(TypedDict):
    """Zipped datasets of different lengths."""

    lengths: Sequence[int]
    line: Mapping[str, object] | None


class PipelineFacts(TypedDict):
    """What is known of a pipeline before any sample is drawn; lines in their JSON shape."""

    kind: str
    dataset: str
    indexed: bool
    batches: bool
    length: int | None
    loader_length: int | None
    batch_size: int | None
    drop_last: bool
    sampler: str | None
    shuffles: bool | None
    workers: int
    own_collate: bool
    classes: int | None
    columns: Sequence[str] | None
    line: Mapping[str, object] | None
    asked_to_shuffle: bool
    batch_line: Mapping[str, object] | None
    zipped: ZippedFacts | None


class Meter(Protocol):
    """Registers operators and calls them."""

    def operator(self, operator: Operator) -> int:
        """The place of an operator, by which its calls are identified."""
        ...

    def sample(self, index: int) -> None:
        """Subsequent calls belong to this sample."""
        ...

    def run(self, place: int, call: Callable[[], Value], given: Value) -> Value:
        """The result of the call, or what it raises; ``given`` are its inputs."""
        ...


class Opened(Protocol):
    """A pipeline of the user's, taken apart."""

    @property
    def indexed(self) -> bool:
        """Whether samples are accessible by index."""
        ...

    def facts(self) -> PipelineFacts:
        """What is known before any sample is drawn."""
        ...

    def instrument(self, meter: Meter) -> None:
        """From now on every call of an operator goes through the meter."""
        ...

    def restore(self) -> None:
        """Restore all objects."""
        ...

    def rows(self, meter: Meter, wanted: Sequence[int]) -> Iterator[Row]:
        """The samples of these indexes, or as many of a stream."""
        ...

    def batch(self, meter: Meter, samples: Sequence[Value]) -> Value:
        """Samples batched by the pipeline, else by its framework's default."""
        ...

    def order(self, epoch: int) -> list[int] | None:
        """The indexes of one epoch, in order; None where they are not determined."""
        ...

    def order_after_set_epoch(self, epoch: int) -> list[int] | None:
        """The same after ``set_epoch`` of the sampler; None where it has none."""
        ...

    def by_workers(self, indexes: Sequence[int], count: int) -> list[list[list[Value]]]:
        """For each of two epochs what each of ``count`` workers, really started, makes of the same samples.

        Empty where that cannot be asked for.
        """
        ...

    def counted(self, most: int) -> int | None:
        """The number of samples of a stream in one epoch with its workers; None where not applicable."""
        ...

    def run(self, most: int) -> Iterator[Value]:
        """Its own batches, with its own configuration."""
        ...

    def stored(self) -> dict[str, Value]:
        """The arrays held by the pipeline, by name."""
        ...

    def objects(self) -> Iterator[Foreign]:
        """The user's objects involved: datasets or sources with what they hold, steps, samplers."""
        ...

    def deciding(self) -> tuple[Foreign, Location | None]:
        """The function or method that determines the order, and the line that configured it."""
        ...

    def length_method(self) -> Function | None:
        """The ``__len__`` that gives the number of samples."""
        ...

    def call(self, place: int) -> Function | None:
        """The operator at a place, to be called with other values; None where not possible."""
        ...

    def starting(self) -> Function | None:
        """The user's worker initialisation function; None where there is none."""
        ...

    def alone(self, index: int) -> Value:
        """One sample run by the pipeline itself, in its threads or processes."""
        ...


class Nothing(Exception):  # noqa: N818
    """None where a value is required; ``place`` is the operator that returned it."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class Unfit(Exception):  # noqa: N818
    """Columns that do not match: so many ``given`` where others are ``wanted``, one ``missing`` or there ``twice``.

    ``place`` is the operator that it is about, ``line`` the user's line that set it up.
    """

    def __init__(
        self, *, wanted: Sequence[str] = (), given: int = 0, missing: str | None = None, twice: str | None = None
    ) -> None:
        super().__init__(missing or twice or given)
        self.wanted, self.given, self.missing, self.twice = list(wanted), given, missing, twice
        self.place: int | None = None
        self.line: Location | None = None
