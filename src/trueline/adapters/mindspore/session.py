"""State shared by the hooks: whether events are reported, and what has happened in the current step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

import mindspore as ms
from mindspore import context

from trueline.adapters.identity import Reference, reference
from trueline.adapters.mindspore import build
from trueline.adapters.nouns import Network, Optimizer, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Switch
from trueline.adapters.training_thread import TrainingThread


class Session:
    """An observer, and the state between its events."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.switch = Switch()
        self.muted = 0
        self.depth = 0
        self.trainers: list[Network] = []
        self.scaled: list[tuple[Value, Value, Value]] = []
        self.unstepped = False
        self.losing = False
        self._noticed: set[tuple[str, str]] = set()
        self.undecided = False
        # Until somebody trains: what a pipeline computes in threads of its own is no training.
        self._thread = TrainingThread(lambda: observer.notice("record.other_thread"), get_ident())
        self._optimizer: Reference | None = None

    def is_reporting(self) -> bool:
        """Whether events are reported: not after removal, in data workers, other threads, or while reading values."""
        return self.switch.on and not self.muted and self._thread.is_recorded()

    def trains(self) -> bool:
        """The same where gradients are computed or weights updated: the first thread that trains is reported."""
        return self.switch.trains() and not self.muted and self._thread.trains()

    @contextmanager
    def silence(self) -> Iterator[None]:
        """No events are reported from this block."""
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    def notice(self, message_id: str, what: str, **params: str) -> None:
        """Report once that something is not visible."""
        if (message_id, what) not in self._noticed:
            self._noticed.add((message_id, what))
            self.observer.notice(message_id, **params)

    def graph_mode(self) -> bool:
        """Whether whole graphs run, so that only the outermost call is visible."""
        return bool(context.get_context("mode") == ms.GRAPH_MODE) and os.environ.get("MS_JIT") != "0"

    @property
    def optimizer(self) -> Optimizer | None:
        """The optimizer that stepped last, else the one constructed last."""
        stepped = self._optimizer() if self._optimizer is not None else None
        return stepped if stepped is not None else build.last_optimizer()

    @optimizer.setter
    def optimizer(self, optimizer: Optimizer) -> None:
        self._optimizer = reference(optimizer)
        self.unstepped = self.undecided = False

    def settle(self) -> None:
        """At the end of a step: a scaler that was adjusted without an optimizer step has skipped it."""
        if self.undecided:
            self.undecided = False
            optimizer = self.optimizer
            if optimizer is not None:
                self.observer.step_due(optimizer)
                self.observer.step_began(optimizer, None)
                self.observer.step_ended(optimizer, True)
