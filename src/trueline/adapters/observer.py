"""Whom a framework's folder tells of a training run: an Observer of what happens, a Tap of its randomness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from trueline.adapters.nouns import Foreign, Handed, Loader, LoaderFacts, Network, Optimizer, Value


class Observer(Protocol):
    """What happens in a training run, told in order by ``hooks`` and ``data`` on the training thread.

    Values are handed over as they are; an observer copies what it wants to keep. A training step tells, in order:
    ``zero_grad`` (where the user zeroes), ``forward_began`` (where a function is differentiated), ``called`` …
    ``returned``, ``loss``, ``backward_began``, ``backward_ended``, ``pulled``, ``step_due``, ``step_began``,
    ``step_ended``. An iteration over data tells ``loader_began``, then ``fetch_began`` and ``fetched`` in turn; the
    fetch that finds nothing more tells ``fetch_began``,
    ``loader_ended``. Optimizers are never told as ``called``, even where they are modules; the framework's own training
    wrappers are, and ``unwrap`` shows the network inside.
    """

    @property
    def wants_calls(self) -> bool:
        """Whether ``called`` and ``returned`` are wanted for every module, or only for outermost ones."""
        ...

    @property
    def wants_parameters(self) -> bool:
        """Whether ``pulled`` is wanted: while no optimizer is known, which would tell its own."""
        ...

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None:
        """An iteration over data begins: kind, length, batch_size, sampler, workers, dataset."""
        ...

    def fetch_began(self, loader: Loader) -> None: ...

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None: ...

    def instead(self, loader: Loader) -> Handed | None:
        """A batch to be handed out instead of the next one, which then is not asked for; None for none."""
        ...

    def loader_ended(self, loader: Loader) -> None: ...

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None: ...

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        """Told also when the call raised, with ``output`` None, so that calls and returns stay paired."""
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
        """Whether ``read_non_finite`` is wanted, from the beginning on."""
        ...

    def read_non_finite(self, value: Value) -> None:
        """The script looks at a tensor with a gradient, which is NaN or Inf, or among whose numbers NaN is."""
        ...

    def forward_began(self, parameters: Sequence[Value]) -> None:
        """A function begins whose gradient at these parameters is wanted; they may also be inputs of its."""
        ...

    def backward_began(self) -> None: ...

    def backward_ended(self) -> None: ...

    def pulled(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """The (parameter, gradient) pairs that a backward has reached, after its end and where they are wanted."""
        ...

    def scale(self, value: Value) -> None: ...

    def scaled_by(self, scaler: Foreign) -> None:
        """A loss goes through this scaler, which counts for itself."""
        ...

    def unscaled(self, optimizer: Optimizer) -> None: ...

    def clipped(self, kind: str, limit: float, norm: Value) -> None: ...

    def step_due(self, optimizer: Optimizer) -> None:
        """An optimizer is about to step, and has looked at nothing yet; with a closure, the loss comes only then."""
        ...

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        """``gradients`` are (parameter, gradient) pairs as given to the optimizer; None where they cannot be seen."""
        ...

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None: ...

    def scheduled(self, scheduler: Foreign) -> None: ...

    def aside(self, what: str, **facts: object) -> None:
        """Something that only checks want to know: ``what`` is criterion, dropout, loaded, schedule, workers …

        ``undone``: the step of an ``optimizer`` that was told to begin was not made, since its graph did not run.
        """
        ...

    def notice(self, message_id: str, **params: object) -> None:
        """Something could not be captured; each (id, params) counts once."""
        ...

    def turn_off(self, error: Exception) -> None:
        """Something went wrong in telling: nothing more is told."""
        ...


class harmless:  # noqa: N801 - reads as a statement where it is used
    """What goes wrong in this block turns the observer off and nothing else."""

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
    """Who is told of a process's randomness, and may have a say in it."""

    def seeding(self, stream: str, value: Value) -> object:
        """A generator is about to be seeded by the script: with what instead (None: as the system chooses)."""
        ...

    def built(self, kind: str, facts: Mapping[str, object]) -> None:
        """The script has built a loader or a part of a data pipeline."""
        ...
