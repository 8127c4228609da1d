"""The step that is going on: its events and tensors, until it is known to be over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trueline.adapters.identity import Reference
from trueline.model.key import Kind
from trueline.model.run import CallInfo
from trueline.model.summary import Summary
from trueline.record.looks.modes import Mode
from trueline.record.networks import Place, Root


@dataclass(frozen=True, slots=True)
class Lazy:
    """A number that may still be on its way from the device."""

    read: Callable[[Any], float]
    scalar: Any


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
    events: list[dict[str, Any]] = field(default_factory=list)
    stats: list[tuple[Spot, Summary]] = field(default_factory=list)
    tensors: list[tuple[Spot, Any]] = field(default_factory=list)
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
