"""Where an iteration of a loop without a loader is over: where that which has already updated in it begins anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.nouns import Network, Optimizer, Value
from trueline.adapters.protocol import Adapter
from trueline.model.run import EventName
from trueline.record.networks import Networks
from trueline.record.open_step import OpenStep
from trueline.record.tables import Parameters

# An optimizer that has not updated in so many steps is not waited for.
_STEPS_WAITED_FOR: Final = 64
# What may follow an update and still belong to it.
_AFTERWARDS: Final = frozenset((EventName.STEP, EventName.UPDATE, EventName.OVERFLOW, EventName.SCHEDULER))


class Iterations:
    """Several optimizers may update in one iteration, each at most once, and not each in every iteration."""

    def __init__(self, networks: Networks, parameters: Parameters, known: Callable[[], Iterator[Optimizer]]) -> None:
        self._networks = networks
        self._parameters = parameters
        self._known = known
        self._first: int | None = None
        self._steps = 0
        self._before: set[int] = set()
        self._updated: dict[int, int] = {}
        self._holders: ByIdentity[tuple[int, set[int]]] = ByIdentity()
        self._adapters: list[Adapter] = []
        self._elsewhere: ByIdentity[bool] = ByIdentity()

    def attach(self, adapter: Adapter) -> None:
        """What was built before belongs to another training until it is seen in this one."""
        self._adapters.append(adapter)
        for optimizer in adapter.build.optimizers():
            self._elsewhere.set(optimizer, True)

    def ended(self, step: OpenStep) -> None:
        """A training step is over."""
        self._before = step.optimizers
        self._updated |= dict.fromkeys(step.optimizers, self._steps)
        self._steps += 1

    def is_first(self, module: Network) -> bool:
        """Whether this is the network that the open step, or the last one, began with."""
        return self._first == id(module)

    def began_with(self, module: Network) -> None:
        """A step begins with the call of this network."""
        self._first = id(module)

    def is_called_anew(self, step: OpenStep, module: Network, adapter: Adapter, inputs: Sequence[Value]) -> bool:
        """After an update: whether the call of a network belongs to the next iteration."""
        if not adapter.values.training(module):
            # What is computed on the way to another update needs no gradients either.
            return not module.training or not self._some_wait(step)
        holders = self._holders_of(module, adapter)
        if not holders:
            if not self._networks.known(module):
                return self._is_complete(step)
            return self.is_first(module) and not self._is_awaited(module, adapter)
        if not holders <= step.optimizers:
            return False
        return not (self._is_fed(inputs, adapter) and self._trains_another(step, module, adapter))

    def is_cleared_anew(
        self, step: OpenStep, owner: Network | Optimizer, optimizer: int | None, adapter: Adapter
    ) -> bool:
        """After an update: whether clearing these gradients belongs to the next iteration."""
        holders = {optimizer} if optimizer is not None else self._holders_of(owner, adapter)
        if holders and holders <= step.optimizers:
            if _trails(step) and self._some_wait(step):
                # It may end one part of the iteration, or begin the next: what follows shows it.
                step.cleared_at = len(step.events)
                return False
            return True
        if step.called_since_update or not self._is_complete(step):
            return False
        own = _parameters_of(owner, adapter)
        return (
            bool(own)
            and all(self._parameters.find(parameter) is None for parameter in own)
            and not holders & set(self._updated)
        )

    def _holders_of(self, module: Network, adapter: Adapter) -> set[int]:
        """The optimizers that hold a network's parameters, as far as they have been seen."""
        count = sum(1 for _ in self._known())
        found = self._holders.get(module)
        if found is None or found[0] != count:
            own = [tensor.value for tensor in adapter.values.tensors(module) if tensor.trainable]
            found = count, self._parameters.holding(own)
            self._holders.set(module, found)
        return found[1]

    def _some_wait(self, step: OpenStep) -> bool:
        """Whether an optimizer of this training may still update in the step."""
        if any(optimizer not in self._elsewhere for adapter in self._adapters for optimizer in self._unseen(adapter)):
            return True
        recent = {optimizer for optimizer, last in self._updated.items() if self._steps - last <= _STEPS_WAITED_FOR}
        return bool(recent - step.optimizers)

    def _unseen(self, adapter: Adapter) -> list[Optimizer]:
        """The optimizers that were built and have done nothing yet."""
        known = list(self._known())
        return [optimizer for optimizer in adapter.build.optimizers() if not any(optimizer is seen for seen in known)]

    def _is_awaited(self, module: Network, adapter: Adapter) -> bool:
        """Whether a network is held by an optimizer that has done nothing yet."""
        own = {id(tensor.value) for tensor in adapter.values.tensors(module) if tensor.trainable}
        return any(
            id(parameter) in own
            for optimizer in self._unseen(adapter)
            for parameter in _parameters_of(optimizer, adapter)
        )

    def _is_complete(self, step: OpenStep) -> bool:
        """Whether the same has updated as in the step before: what was never seen then begins another training."""
        return bool(step.optimizers) and step.optimizers == self._before

    def _is_fed(self, inputs: Sequence[Value], adapter: Adapter) -> bool:
        return any(adapter.values.node(value) is not None for value in inputs)

    def _trains_another(self, step: OpenStep, module: Network, adapter: Adapter) -> bool:
        """Whether a network was called in the step whose own update is still to come."""
        networks = [
            network for known in step.called.values() if (network := known()) is not None and network is not module
        ]
        return any(
            not (holders := self._holders_of(network, adapter)) or holders - step.optimizers for network in networks
        )


def called(step: OpenStep, module: Network, training: bool) -> None:
    """A network is called in the step."""
    step.called_since_update = True
    if training:
        known: dict[int, Reference] = step.called
        known.setdefault(id(module), reference(module))


def last_update(step: OpenStep) -> int | None:
    """The place in the events behind the last update, where gradients were made since and no network was called."""
    if step.called_since_update:
        return None
    names = [event.name for event in step.events]
    place = len(names) - next((at for at, name in enumerate(reversed(names)) if name == EventName.STEP), len(names))
    while place < len(names) and names[place] in _AFTERWARDS:
        place += 1
    return place if EventName.BACKWARD in names[place:] else None


def _trails(step: OpenStep) -> bool:
    return not step.called_since_update and bool(step.events) and step.events[-1].name in _AFTERWARDS


def _parameters_of(owner: Network | Optimizer, adapter: Adapter) -> list[Value]:
    if adapter.values.is_module(owner) and not hasattr(owner, "param_groups"):
        return [tensor.value for tensor in adapter.values.tensors(owner) if tensor.trainable]
    return [parameter for group in adapter.values.groups(owner) for parameter in group.parameters]
