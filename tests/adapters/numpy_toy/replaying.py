"""All that a training step depends on, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from adapters.numpy_toy import framework, values

from trueline.adapters.live_objects import Births, alive
from trueline.adapters.nouns import State, Stateful
from trueline.adapters.saving import Saving, rebuilt
from trueline.adapters.state_keeper import CapturingKeeper
from trueline.kernel.array import Array

_KINDS = (framework.Module, framework.Optimizer)
_births = Births()


def prepare() -> None:
    _births.watch(_KINDS)


def built() -> int:
    """How many of them were built so far: while it stays, there are no new ones but for copies."""
    return _births.count


def holders() -> list[Stateful]:
    found = _births.sorted(alive(_KINDS))
    kinds = [("network", framework.Module), ("optimizer", framework.Optimizer)]
    return [Stateful(name, type(one).__name__, one) for name, kind in kinds for one in found if isinstance(one, kind)]


def _parts(holders: Sequence[Stateful]) -> tuple[Any, list[Any]]:
    network = next(one.held for one in holders if one.kind == "network")
    return network, [one.held for one in holders if one.kind == "optimizer"]


def capture(holders: Sequence[Stateful], *, gradients: bool) -> State:
    found = _capture(*_parts(holders))
    saving = Saving(values)
    plain = {name: saving.tree(value, name) for name, value in found.plain.items()}
    return State({**found.arrays, **saving.arrays}, plain, saving.lost)


def restore(state: State, holders: Sequence[Stateful]) -> None:
    plain = {name: rebuilt(tree, state.arrays, values.from_numpy) for name, tree in state.plain.items()}
    _restore(State(state.arrays, plain), *_parts(holders))


def _capture(model: Any, optimizers: Sequence[Any] = ()) -> State:
    """Everything that the following steps depend on."""
    arrays = {f"model/{one.name}": values.to_numpy(one.value, copy=True) for one in values.tensors(model)}
    plain: dict[str, Any] = {"generator": framework.generator().bit_generator.state, "optimizers": []}
    for number, optimizer in enumerate(optimizers):
        for place, memory in enumerate(optimizer.memory):
            for slot, array in memory.items():
                arrays[f"optimizer/{number}/{place}/{slot}"] = array.copy()
        plain["optimizers"].append([dict(group.settings) for group in values.groups(optimizer)])
    return State(arrays, plain)


def _restore(state: State, model: Any, optimizers: Sequence[Any] = ()) -> None:
    """Bring model, optimizers and random numbers back."""
    for one in values.tensors(model):
        values.assign(one.value, state.arrays[f"model/{one.name}"])
        one.value.grad = None
    for number, optimizer in enumerate(optimizers):
        optimizer.memory = [{} for _ in optimizer.memory]
        for group, settings in zip(optimizer.groups, state.plain["optimizers"][number], strict=True):
            group.update(settings)
    for name, array in state.arrays.items():
        if name.startswith("optimizer/"):
            _, which, place, slot = name.split("/")
            optimizers[int(which)].memory[int(place)][slot] = array.copy()
    framework.generator().bit_generator.state = state.plain["generator"]


def keeper() -> CapturingKeeper:
    return CapturingKeeper(capture, restore)


def random() -> State:
    saving = Saving(values)
    return State(saving.arrays, {"generator": saving.tree(framework.generator().bit_generator.state, "generator")})


def set_random(state: State) -> None:
    found = rebuilt(state.plain["generator"], state.arrays, values.from_numpy)
    framework.generator().bit_generator.state = found


def iterators() -> tuple[type, ...]:
    return ()


def use_float32(holders: Sequence[Stateful]) -> None:
    """The toy knows float32 only."""


def generator_state(generator: Any) -> Array | None:
    return None


def set_generator(generator: Any, state: Array) -> None:
    raise NotImplementedError(np.shape(state))
