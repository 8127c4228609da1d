"""All that a training step depends on, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from adapters.numpy_toy import framework, state, values

from trueline.adapters.living import Births, alive
from trueline.adapters.nouns import Array, State, Thing
from trueline.adapters.saving import Saving, rebuilt

_KINDS = (framework.Module, framework.Optimizer)
_births = Births()


def prepare() -> None:
    _births.watch(_KINDS)


def things() -> list[Thing]:
    found = _births.sorted(alive(_KINDS))
    kinds = [("network", framework.Module), ("optimizer", framework.Optimizer)]
    return [Thing(name, type(one).__name__, one) for name, kind in kinds for one in found if isinstance(one, kind)]


def _parts(things: Sequence[Thing]) -> tuple[Any, list[Any]]:
    network = next(one.held for one in things if one.kind == "network")
    return network, [one.held for one in things if one.kind == "optimizer"]


def capture(things: Sequence[Thing], *, gradients: bool) -> State:
    found = state.capture(*_parts(things))
    saving = Saving(values)
    plain = {name: saving.tree(value, name) for name, value in found.plain.items()}
    return State({**found.arrays, **saving.arrays}, plain, saving.lost)


def restore(state: State, things: Sequence[Thing]) -> None:
    from adapters.numpy_toy import state as states

    plain = {name: rebuilt(tree, state.arrays, values.from_numpy) for name, tree in state.plain.items()}
    states.restore(State(state.arrays, plain), *_parts(things))


def random() -> State:
    saving = Saving(values)
    return State(saving.arrays, {"generator": saving.tree(framework.generator().bit_generator.state, "generator")})


def set_random(state: State) -> None:
    found = rebuilt(state.plain["generator"], state.arrays, values.from_numpy)
    framework.generator().bit_generator.state = found


def iterators() -> tuple[type, ...]:
    return ()


def use_float32(things: Sequence[Thing]) -> None:
    """The toy knows float32 only."""


def generator_state(generator: Any) -> Array | None:
    return None


def set_generator(generator: Any, state: Array) -> None:
    raise NotImplementedError(np.shape(state))
