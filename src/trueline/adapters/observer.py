"""Who receives the events of a training run: an Observer; and of its randomness: a Tap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from trueline.adapters.nouns import Foreign, Handed, Loader, LoaderFacts, Network, Optimizer, Value


class Observer(Protocol):
    """Receives the events of a training run in order, from ``hooks`` and ``data`` on the training thread.

    Values are passed without copying; an observer copies what it keeps. The events of a training step, in order:
    ``zero_grad`` (where the user zeroes), ``forward_began`` (where a function is differentiated), ``called`` …
    ``returned``, ``loss``, ``backward_began``, ``backward_ended``, ``pulled``, ``step_due``, ``step_began``,
    ``step_ended``. Those of an iteration over data: ``loader_began``, then ``fetch_began`` and ``fetched`` in turn, and
    at its end ``fetch_began``, ``loader_ended``. Optimizers are never reported as ``called``, even where they are
    modules; the framework's own training wrappers are, and ``unwrap`` gives the network inside.
    """

    @property
    def wants_calls(self) -> bool:
        """Whether ``called`` and ``returned`` are wanted for every module, or only for the outermost."""
        ...

    @property
    def wants_parameters(self) -> bool:
        """Whether ``pulled`` is wanted: only while no optimizer is known, whose steps carry the gradients."""
        ...

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None:
        """An iteration over data begins: kind, length, batch_size, sampler, workers, dataset."""
        ...

    def fetch_began(self, loader: Loader) -> None: ...

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None: ...

    def instead(self, loader: Loader) -> Handed | None:
        """A batch to return instead of the next one, which is then not fetched; None for none."""
        ...

    def loader_ended(self, loader: Loader) -> None: ...

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None: ...

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        """Also reported when the call raised, with ``output`` None, so that calls and returns stay paired."""
        ...

    def mode_set(self, module: Network, training: bool) -> None:
        """Once per call by the user, for the outermost module."""
        ...

    def zero_grad(self, owner: Foreign) -> None:
        """``owner`` is an optimizer or a module."""
        ...

    def loss(self, value: Value, source: str) -> None:
        """The unscaled loss: source is backward, value_and_grad, model or output."""
        ...

    @property
    def wants_reads(self) -> bool:
        """Whether ``read_non_finite`` is wanted; constant."""
        ...

    def read_non_finite(self, value: Value) -> None:
        """The script reads a tensor with a gradient that is NaN or Inf, or contains NaN."""
        ...

    def forward_began(self, parameters: Sequence[Value]) -> None:
        """A function is being differentiated with respect to these parameters; they may also be its inputs."""
        ...

    def backward_began(self) -> None: ...

    def backward_ended(self) -> None: ...

    def pulled(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """The (parameter, gradient) pairs that a backward pass has reached, reported after its end if wanted."""
        ...

    def scale(self, value: Value) -> None: ...

    def scaled_by(self, scaler: Foreign) -> None:
        """A loss is scaled by this scaler."""
        ...

    def unscaled(self, optimizer: Optimizer) -> None: ...

    def clipped(self, kind: str, limit: float, norm: Value) -> None: ...

    def step_due(self, optimizer: Optimizer) -> None:
        """An optimizer step is about to start; with a closure, the loss is computed inside it."""
        ...

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        """``gradients`` are the (parameter, gradient) pairs given to the optimizer; None where not visible."""
        ...

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None: ...

    def scheduled(self, scheduler: Foreign) -> None: ...

    def aside(self, what: str, **facts: object) -> None:
        """An event for checks only: ``what`` is criterion, dropout, loaded, schedule, workers …

        ``undone``: the reported step of an ``optimizer`` did not happen, since its graph did not run.
        """
        ...

    def notice(self, message_id: str, **params: object) -> None:
        """Something could not be recorded; each (id, params) counts once."""
        ...

    def turn_off(self, error: Exception) -> None:
        """Reporting has failed: no further events."""
        ...


class harmless:  # noqa: N801 - reads as a statement where it is used
    """An exception in this block turns the observer off and has no other effect."""

    __slots__ = ("_observer",)

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Exception):
            self._observer.turn_off(error)
            return True
        return False


class Tap(Protocol):
    """Receives the seeds of a process, and may replace them."""

    def seeding(self, stream: str, value: Value) -> object:
        """The script is about to seed a generator; returns the seed to use (None: from the system)."""
        ...

    def built(self, kind: str, facts: Mapping[str, object]) -> None:
        """The script has constructed a loader or an operator of a data pipeline."""
        ...
