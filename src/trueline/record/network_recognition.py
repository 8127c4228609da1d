"""Which modules lead to a loss: a network has weights, or what it gives has a gradient of its own.

Transforms, augmentations, metrics and criteria are modules as well. They begin no step and stand for no batch. One that
takes what a network has given is recorded behind it; any other is nothing of a training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.nouns import Network, Value
from trueline.adapters.protocol import Values
from trueline.adapters.tree import leaves

Passed = tuple[Network, Sequence[Value], Mapping[str, Value]]
# Outputs of networks that are remembered, the newest: a criterion takes one of the last.
_MAX_GIVEN: Final = 64


class Part(Enum):
    """The part that an outermost call has in a step."""

    NETWORK = auto()
    BEHIND = auto()
    NONE = auto()


class NetworkRecognition:
    """Remembers what networks have given, and the calls of which it is still open whether they are a network's."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._parts: ByIdentity[Part] = ByIdentity()
        self._given: dict[int, Reference] = {}
        # The calls going on, outermost first, none of which has weights so far.
        self.passed: list[Passed] = []

    def part(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Part:
        """The part of an outermost call."""
        known = self._parts.get(module)
        if known is None and self.has_weights(module):
            known = Part.NETWORK
        if known is None and self._comes_from_network(leaves((args, dict(kwargs)), self._values.is_tensor)):
            known = Part.BEHIND
        if known is None:
            return Part.NONE
        self._parts.set(module, known)
        return known

    def has_weights(self, module: Network) -> bool:
        """Whether parameters are registered in a module, or its weights are in a compiled form."""
        return self._parts.get(module) is Part.NETWORK or self._values.has_weights(module)

    def made(self, module: Network) -> None:
        """A module has turned out to be a network."""
        self._parts.set(module, Part.NETWORK)

    def gave(self, outputs: Sequence[tuple[str, Value]]) -> None:
        """An outermost call that is recorded has returned these."""
        for _, tensor in outputs:
            self._given.pop(address := self._values.identity(tensor), None)
            self._given[address] = reference(tensor)
        for address in list(self._given)[:-_MAX_GIVEN]:
            del self._given[address]

    def _comes_from_network(self, tensors: Iterable[tuple[str, Value]]) -> bool:
        return any(
            getattr(tensor, "requires_grad", False) or self._values.node(tensor) is not None or self._is_given(tensor)
            for _, tensor in tensors
        )

    def _is_given(self, tensor: Value) -> bool:
        known = self._given.get(self._values.identity(tensor))
        # An address is used again after its tensor is gone.
        return known is not None and known() is not None

    def trains_something(self, outputs: Sequence[tuple[str, Value]]) -> bool:
        """Whether what a call gives has a gradient, which its inputs had not: weights are in it, registered or not."""
        return any(self._values.node(tensor) is not None for _, tensor in outputs)


def counts_over_calls(module: Network) -> bool:
    """Whether a module is a metric: what it gives is no loss, however much it looks like that."""
    # Its class is asked: a __getattr__ of the user's may do anything.
    return all(callable(getattr(type(module), name, None)) for name in ("update", "compute"))
