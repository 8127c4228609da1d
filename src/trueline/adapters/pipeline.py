"""What a framework's ``pipelines`` speaks in: operators, rows, and the meter that operators are called through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trueline.model.location import Location


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a pipeline. ``kind``: dataset, step, group, map, filter, batch, collate, sampler, source, other.

    ``line`` is the user's line that speaks of it: where it was built, else where it is defined. With ``channels_last``
    it takes images as height, width, channels, and nothing else.
    """

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    line: Location | None = None
    columns: Sequence[str] = ()
    channels_last: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One sample by its index in the source, or what was raised instead of it."""

    index: int
    value: Any = None
    error: BaseException | None = None


class Meter(Protocol):
    """Told of every operator, and calls it."""

    def operator(self, operator: Operator) -> int:
        """Its place, by which its calls are told."""
        ...

    def sample(self, index: int) -> None:
        """From now on calls are about this sample."""
        ...

    def run(self, place: int, call: Callable[[], Any], given: Any) -> Any:
        """What the call returns or raises; ``given`` is what it is about to work on."""
        ...


class Opened(Protocol):
    """A pipeline of the user's, taken apart."""

    @property
    def indexed(self) -> bool:
        """Whether samples can be had by their index."""
        ...

    def facts(self) -> dict[str, Any]:
        """What is known before it gives anything: ``child/host.py`` of ``data/pipeline`` hands it on."""
        ...

    def instrument(self, meter: Meter) -> None:
        """From now on every call of an operator goes through the meter."""
        ...

    def restore(self) -> None:
        """All objects as they were."""
        ...

    def rows(self, meter: Meter, wanted: Sequence[int]) -> Iterator[Row]:
        """The samples of these indexes, or as many of a stream."""
        ...

    def batch(self, meter: Meter, samples: Sequence[Any]) -> Any:
        """Samples put together as the pipeline does, else as its framework would."""
        ...

    def order(self, epoch: int) -> list[int] | None:
        """The indexes of one epoch, in order; None where nothing decides it."""
        ...

    def order_told(self, epoch: int) -> list[int] | None:
        """The same once the sampler is told of an epoch, as a training loop may do; None where it takes no telling."""
        ...

    def by_workers(self, indexes: Sequence[int], count: int) -> list[list[list[Any]]]:
        """For each of two epochs what each of ``count`` workers, really started, makes of the same samples.

        Empty where that cannot be asked for.
        """
        ...

    def counted(self, most: int) -> int | None:
        """How many samples a stream gives in one epoch with its workers; None where that says nothing."""
        ...

    def run(self, most: int) -> Iterator[Any]:
        """Its own batches, made the way it is set up."""
        ...

    def stored(self) -> dict[str, Any]:
        """The arrays that the pipeline holds, by name."""
        ...

    def objects(self) -> Iterator[Any]:
        """The objects of the user's that take part: datasets or sources, and what they hold; steps, samplers."""
        ...

    def deciding(self) -> tuple[Any, Location | None]:
        """What decides the order (a function or method), and the line that set it up."""
        ...

    def length_method(self) -> Any:
        """The method that says how many samples there are."""
        ...

    def call(self, place: int) -> Callable[..., Any] | None:
        """The operator at a place by itself, to be called with other values; None where it cannot be."""
        ...

    def starting(self) -> Any:
        """The user's function that every worker calls first; None where there is none."""
        ...

    def alone(self, index: int) -> Any:
        """One sample the way the pipeline itself would run it: in its threads or processes."""
        ...


class Nothing(Exception):  # noqa: N818
    """None where a value is needed; ``place`` is the operator that gave it."""

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
