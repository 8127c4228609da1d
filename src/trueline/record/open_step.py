"""The step that is going on: its events and tensors, until it is known to be over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from trueline.adapters.identity import Reference
from trueline.adapters.nouns import Value
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.key import Kind
from trueline.model.location import Location
from trueline.model.run import CallInfo, EventName
from trueline.model.summary import Summary
from trueline.record.looks.modes import Mode
from trueline.record.networks import Place, Root


@dataclass(frozen=True, slots=True)
class Lazy:
    """A number that may still be on its way from the device."""

    read: Callable[[Value], float]
    scalar: Value


# What a field of an event holds until its step is over, since places have no names before that; or parameters of a
# message.
Field: TypeAlias = "Json | Lazy | Place | Sequence[Place] | Mapping[str, object]"


@dataclass(slots=True, eq=False)
class OpenEvent:
    """An event of the open step, ``at`` seconds after the recording began."""

    name: EventName
    at: float
    fields: dict[str, Field]

    def finished(self) -> dict[str, Json]:
        """As it is written: with numbers read and places named."""
        return {
            "event": self.name.value,
            "t": self.at,
            **{name: _finished(value) for name, value in self.fields.items()},
        }


def _finished(field: Field) -> Json:
    if isinstance(field, Lazy):
        return field.read(field.scalar)
    if isinstance(field, Place):
        return field.full
    if isinstance(field, list) and field and isinstance(field[0], Place):
        return [place.full for place in field]
    return cast("Json", field)


@dataclass(frozen=True, slots=True)
class Spot:
    """A Key whose phase and prefix are not yet decided."""

    place: Place
    call: int
    kind: Kind
    index: str


@dataclass(slots=True)
class OpenStep:
    """What has happened since the step began.

    It is a training step once backward or an optimizer was seen, an evaluation step when there were only forward
    calls, and nothing yet when only data was fetched.
    """

    began: float = field(default_factory=time.perf_counter)
    events: list[OpenEvent] = field(default_factory=list)
    stats: list[tuple[Spot, Summary]] = field(default_factory=list)
    tensors: list[tuple[Spot, Array]] = field(default_factory=list)
    counts: dict[Place, int] = field(default_factory=dict)
    calls: list[tuple[Place, CallInfo]] = field(default_factory=list)
    fetched: bool = False
    loaders: set[int] = field(default_factory=set)
    forwarded: bool = False
    may_train: bool = False
    calls_from_outside: int = 0
    backward: int = 0
    stepped: bool = False
    optimizers: set[int] = field(default_factory=set)
    # The networks called in training, and whether one was called since the last update.
    called: dict[int, Reference] = field(default_factory=dict)
    called_since_update: bool = False
    # The place in the events of gradients cleared right after an update.
    cleared_at: int | None = None
    losses: int = 0
    modes: dict[Root, Mode | None] = field(default_factory=dict)
    buffers: dict[str, int | bytes] | None = None
    # The largest random rate of each line's calls, and whether the network was in training mode.
    rates: dict[Location, tuple[float, bool]] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        """Whether more than fetching data has happened."""
        return self.forwarded or self.training

    @property
    def training(self) -> bool:
        """Whether this is a training step for all that is known."""
        return self.backward > 0 or self.stepped

    def count_call(self, place: Place) -> int:
        """The number of this call among the calls of one place in the step."""
        number = self.counts.get(place, 0)
        self.counts[place] = number + 1
        return number
