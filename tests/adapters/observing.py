"""An observer that writes everything down, and the data that the suite trains on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from adapters.subjects.protocol import Array, Batch, Subject

from trueline.adapters.nouns import Handed
from trueline.adapters.tree import leaves


@dataclass(frozen=True, slots=True)
class Event:
    """What was told, with its object and what the suite wants to know of it."""

    name: str
    of: Any = None
    seen: Any = None


class Notebook:
    """Writes every event down and copies every value at the moment it is told."""

    def __init__(self, subject: Subject, *, calls: bool = True, gradients: bool = False) -> None:
        self.values = subject.adapter.values
        self.wants_calls = calls
        # While optimizers are told, parameters need not be.
        self.wants_parameters = False
        self.wants_reads = False
        self.events: list[Event] = []
        self.handed: list[Handed] = []
        self._on_gradient = subject.adapter.hooks.on_gradient if gradients else None

    def _note(self, name: str, of: Any = None, seen: Any = None) -> None:
        self.events.append(Event(name, of, seen))

    def _arrays(self, tree: Any) -> dict[str, Array]:
        return {at: self.values.to_numpy(one, copy=True) for at, one in leaves(tree, self.values.is_tensor)}

    def loader_began(self, loader: Any, facts: Mapping[str, Any]) -> None:
        self._note("loader_began", loader, dict(facts))

    def fetch_began(self, loader: Any) -> None:
        self._note("fetch_began", loader)

    def fetched(self, loader: Any, batch: Any, indexes: Sequence[int] | None) -> None:
        self._note("fetched", loader, (batch, None if indexes is None else list(indexes)))

    def instead(self, loader: Any) -> Handed | None:
        return self.handed.pop(0) if self.handed else None

    def loader_ended(self, loader: Any) -> None:
        self._note("loader_ended", loader)

    def called(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._note("called", module, self._arrays((list(args), dict(kwargs))))

    def returned(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], output: Any) -> None:
        self._note("returned", module, None if output is None else self._arrays(output))
        if self._on_gradient is not None:
            call = sum(one.of is module for one in self.told("returned")) - 1
            for index, tensor in leaves(output, self.values.is_tensor):
                self._on_gradient(tensor, self._gradient_taker(module, call, index))

    def _gradient_taker(self, module: Any, call: int, index: str) -> Callable[[Any], None]:
        def take(gradient: Any) -> None:
            self._note("gradient", module, (call, index, self.values.to_numpy(gradient, copy=True)))

        return take

    def mode_set(self, module: Any, training: bool) -> None:
        self._note("mode_set", module, training)

    def zero_grad(self, owner: Any) -> None:
        self._note("zero_grad", owner)

    def loss(self, value: Any, source: str) -> None:
        self._note("loss", source, self.values.keep(value))

    def read_non_finite(self, value: Any) -> None:
        self._note("read_non_finite", value)

    def forward_began(self, parameters: Sequence[Any]) -> None:
        """Only steps without an optimizer go by it."""

    def pulled(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        self._note("pulled", [one for one, _ in pairs])

    def turn_off(self, error: Exception) -> None:
        """In a test it is an error."""
        raise error

    def backward_began(self) -> None:
        self._note("backward_began")

    def backward_ended(self) -> None:
        self._note("backward_ended")

    def scale(self, value: Any) -> None:
        self._note("scale")

    def scaled_by(self, scaler: Any) -> None:
        """The scale is told as well."""

    def unscaled(self, optimizer: Any) -> None:
        self._note("unscaled", optimizer)

    def clipped(self, kind: str, limit: float, norm: Any) -> None:
        self._note("clipped")

    def step_due(self, optimizer: Any) -> None:
        """What it is about to do is told as well."""

    def step_began(self, optimizer: Any, gradients: Sequence[tuple[Any, Any]] | None) -> None:
        pairs = [(one, self.values.to_numpy(gradient, copy=True)) for one, gradient in gradients or ()]
        self._note("step_began", optimizer, pairs)

    def step_ended(self, optimizer: Any, skipped: bool) -> None:
        self._note("step_ended", optimizer, skipped)

    def scheduled(self, scheduler: Any) -> None:
        self._note("scheduled", scheduler)

    def aside(self, what: str, **facts: Any) -> None:
        """Only checks want to know of it."""

    def notice(self, message_id: str, **params: Any) -> None:
        self._note("notice", message_id, params)

    def told(self, *names: str) -> list[Event]:
        """The events of these names, in order."""
        return [one for one in self.events if one.name in names]

    def story(self, network: Any) -> list[str]:
        """The events of a network in short: a module by its path, a loss cell or the like outside of it left out."""
        paths = {id(module): path or "net" for path, module in self.values.modules(network)}
        short = []
        for one in self.events:
            if (one.name, one.of) == ("loss", "output"):
                # What a loss function gives without a gradient: told where the framework has such functions.
                continue
            if one.name in ("called", "returned"):
                if id(one.of) in paths:
                    short.append(f"{one.name} {paths[id(one.of)]}")
            else:
                short.append(one.name)
        return short


@contextmanager
def watched(subject: Subject, *, calls: bool = True, gradients: bool = False) -> Iterator[Notebook]:
    """Hooks in place for the length of a block."""
    notebook = Notebook(subject, calls=calls, gradients=gradients)
    installed = subject.adapter.hooks.install(notebook)
    try:
        yield notebook
    finally:
        installed.remove()


def make_batches(count: int, *, size: int = 8, seed: int = 0) -> list[Batch]:
    """Batches of random inputs and labels."""
    random = np.random.default_rng(seed)
    return [(random.normal(size=(size, 4)).astype(np.float32), random.integers(0, 3, size)) for _ in range(count)]


def weights(subject: Subject, network: Any) -> dict[str, Array]:
    """All tensors of a network, copied."""
    values = subject.adapter.values
    return {one.name: values.to_numpy(one.value, copy=True) for one in values.tensors(network)}
