"""Where an iteration of a loop without a loader is over: where that which has already updated in it begins anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.protocol import Adapter
from trueline.model.run import EventName
from trueline.record.networks import Networks
from trueline.record.open_step import OpenStep
from trueline.record.tables import Parameters

# An optimizer that has not updated in so many steps is not waited for.
_WAITED_FOR: Final = 64
# What may follow an update and still belong to it.
_AFTERWARDS: Final = frozenset(one.value for one in (EventName.STEP, EventName.OVERFLOW, EventName.SCHEDULER))


class Iterations:
    """Several optimizers may update in one iteration, each at most once, and not each in every iteration."""

    def __init__(self, networks: Networks, parameters: Parameters, known: Callable[[], Iterator[Any]]) -> None:
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
        for one in adapter.build.optimizers():
            self._elsewhere.set(one, True)

    def ended(self, step: OpenStep) -> None:
        """A training step is over."""
        self._before = step.optimizers
        self._updated |= dict.fromkeys(step.optimizers, self._steps)
        self._steps += 1

    def is_first(self, module: Any) -> bool:
        """Whether this is the network that the open step, or the last one, began with."""
        return self._first == id(module)

    def began_with(self, module: Any) -> None:
        """A step begins with the call of this network."""
        self._first = id(module)

    def is_called_anew(self, step: OpenStep, module: Any, adapter: Adapter, inputs: Sequence[Any]) -> bool:
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

    def is_cleared_anew(self, step: OpenStep, owner: Any, optimizer: int | None, adapter: Adapter) -> bool:
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
        return bool(own) and all(self._parameters.find(one) is None for one in own) and not holders & set(self._updated)

    def _holders_of(self, module: Any, adapter: Adapter) -> set[int]:
        """The optimizers that hold a network's parameters, as far as they have been seen."""
        count = sum(1 for _ in self._known())
        found = self._holders.get(module)
        if found is None or found[0] != count:
            own = [one.value for one in adapter.values.tensors(module) if one.trainable]
            found = count, self._parameters.holding(own)
            self._holders.set(module, found)
        return found[1]

    def _some_wait(self, step: OpenStep) -> bool:
        """Whether an optimizer of this training may still update in the step."""
        if any(one not in self._elsewhere for adapter in self._adapters for one in self._unseen(adapter)):
            return True
        recent = {one for one, last in self._updated.items() if self._steps - last <= _WAITED_FOR}
        return bool(recent - step.optimizers)

    def _unseen(self, adapter: Adapter) -> list[Any]:
        """The optimizers that were built and have done nothing yet."""
        known = list(self._known())
        return [one for one in adapter.build.optimizers() if not any(one is each for each in known)]

    def _is_awaited(self, module: Any, adapter: Adapter) -> bool:
        """Whether a network is held by an optimizer that has done nothing yet."""
        own = {id(one.value) for one in adapter.values.tensors(module) if one.trainable}
        return any(id(one) in own for each in self._unseen(adapter) for one in _parameters_of(each, adapter))

    def _is_complete(self, step: OpenStep) -> bool:
        """Whether the same has updated as in the step before: what was never seen then begins another training."""
        return bool(step.optimizers) and step.optimizers == self._before

    def _is_fed(self, inputs: Sequence[Any], adapter: Adapter) -> bool:
        return any(adapter.values.node(one) is not None for one in inputs)

    def _trains_another(self, step: OpenStep, module: Any, adapter: Adapter) -> bool:
        """Whether a network was called in the step whose own update is still to come."""
        others = [one for known in step.called.values() if (one := known()) is not None and one is not module]
        return any(not (holders := self._holders_of(one, adapter)) or holders - step.optimizers for one in others)


def called(step: OpenStep, module: Any, training: bool) -> None:
    """A network is called in the step."""
    step.called_since_update = True
    if training:
        known: dict[int, Reference] = step.called
        known.setdefault(id(module), reference(module))


def last_update(step: OpenStep) -> int | None:
    """The place in the events behind the last update, where gradients were made since and no network was called."""
    if step.called_since_update:
        return None
    names = [one["event"] for one in step.events]
    place = len(names) - next((at for at, one in enumerate(reversed(names)) if one == EventName.STEP), len(names))
    while place < len(names) and names[place] in _AFTERWARDS:
        place += 1
    return place if EventName.BACKWARD in names[place:] else None


def _trails(step: OpenStep) -> bool:
    return not step.called_since_update and bool(step.events) and step.events[-1]["event"] in _AFTERWARDS


def _parameters_of(owner: Any, adapter: Adapter) -> list[Any]:
    if adapter.values.is_module(owner) and not hasattr(owner, "param_groups"):
        return [one.value for one in adapter.values.tensors(owner) if one.trainable]
    return [one for group in adapter.values.groups(owner) for one in group.parameters]
