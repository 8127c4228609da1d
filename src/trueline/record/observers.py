"""Who observes a training: the recording and what takes part in it, in one list behind one guard."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from trueline.adapters.nouns import Handed, Loader, LoaderFacts, Network, Optimizer, Value
from trueline.adapters.observer import Observer
from trueline.record.guard import Guarded, guard


class SilentObserver:
    """An Observer that takes no notice of anything; each kind of it overrides what it wants to hear."""

    @property
    def wants_calls(self) -> bool:
        """Outermost modules are enough."""
        return False

    @property
    def wants_parameters(self) -> bool:
        """Nothing of what a backward pass has reached."""
        return False

    @property
    def wants_reads(self) -> bool:
        """Nothing of what the script looks at by itself."""
        return False

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None: ...

    def fetch_began(self, loader: Loader) -> None: ...

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None: ...

    def instead(self, loader: Loader) -> Handed | None:
        """No batch of its own."""

    def loader_ended(self, loader: Loader) -> None: ...

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None: ...

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None: ...

    def mode_set(self, module: Network, training: bool) -> None: ...

    def zero_grad(self, owner: Network | Optimizer) -> None: ...

    def loss(self, value: Value, source: str) -> None: ...

    def read_non_finite(self, value: Value) -> None: ...

    def forward_began(self, parameters: Sequence[Value]) -> None: ...

    def backward_began(self) -> None: ...

    def backward_ended(self) -> None: ...

    def pulled(self, pairs: Sequence[tuple[Value, Value]]) -> None: ...

    def scale(self, value: Value) -> None: ...

    def scaled_by(self, scaler: object) -> None: ...

    def unscaled(self, optimizer: Optimizer) -> None: ...

    def clipped(self, kind: str, limit: float, norm: Value) -> None: ...

    def step_due(self, optimizer: Optimizer) -> None: ...

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None: ...

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None: ...

    def scheduled(self, scheduler: object) -> None: ...

    def aside(self, what: str, **facts: Any) -> None: ...

    def notice(self, message_id: str, **params: object) -> None: ...

    def turn_off(self, error: Exception) -> None: ...


_ANSWERED: Final = ("instead", "turn_off")
EVENTS: Final = tuple(
    name
    for name, method in vars(SilentObserver).items()
    if callable(method) and not name.startswith("_") and name not in _ANSWERED
)


class Observers(SilentObserver):
    """Tells every observer of one framework's training, in their order; what fails turns all of them off.

    What only one of them wants to hear goes to it directly.
    """

    def __init__(self, recording: Guarded) -> None:
        self._recording = recording
        self._observers: list[Observer] = []

    def put_first(self, observer: Observer) -> None:
        """It hears of everything before the others do."""
        self._observers.insert(0, observer)

    def put_last(self, observer: Observer) -> None:
        """It hears of everything after the others."""
        self._observers.append(observer)

    def bind(self) -> None:
        """The list is complete: find out who wants to hear what."""
        for name in EVENTS:
            methods = [getattr(observer, name) for observer in self._overriding(name)]
            if methods:
                setattr(self, name, self.guarded(_one_after_the_other(methods)))
        self._wanting_calls = self._overriding("wants_calls")
        self._wanting_parameters = self._overriding("wants_parameters")
        self._handing_out = self._overriding("instead")
        self._wants_reads = any(observer.wants_reads for observer in self._observers)

    def _overriding(self, name: str) -> Sequence[Observer]:
        silent = getattr(SilentObserver, name)
        return [observer for observer in self._observers if getattr(type(observer), name) is not silent]

    def guarded(self, function: Callable[..., None]) -> Callable[..., None]:
        """A function that never disturbs the training: where it fails, all of the observers are turned off."""
        return guard(self._recording, function, self.turn_off)

    @property
    def wants_calls(self) -> bool:
        """Whether any of them wants every module's calls."""
        # Asked at every module's call: a generator would cost as much again.
        for observer in self._wanting_calls:  # noqa: SIM110
            if observer.wants_calls:
                return True
        return False

    @property
    def wants_parameters(self) -> bool:
        """Whether any of them wants what a backward pass has reached."""
        return any(observer.wants_parameters for observer in self._wanting_parameters)

    @property
    def wants_reads(self) -> bool:
        """Whether any of them wants what the script looks at by itself."""
        return self._wants_reads

    def instead(self, loader: Loader) -> Handed | None:
        """What the first of them hands out that has something."""
        for observer in self._handing_out:
            handed = observer.instead(loader)
            if handed is not None:
                return handed
        return None

    def turn_off(self, error: Exception) -> None:
        """Nothing more is told."""
        for observer in self._observers:
            with contextlib.suppress(Exception):
                observer.turn_off(error)


def _one_after_the_other(methods: Sequence[Callable[..., None]]) -> Callable[..., None]:
    if len(methods) == 1:
        return methods[0]

    def tell(*args: object, **kwargs: object) -> None:
        for method in methods:
            method(*args, **kwargs)

    return tell
