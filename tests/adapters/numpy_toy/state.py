"""Capture, restore, randomness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from adapters.numpy_toy import framework, values

from trueline.adapters.keeping import CapturingKeeper
from trueline.adapters.nouns import State


def capture(model: Any, optimizers: Sequence[Any] = ()) -> State:
    """Everything that the following steps depend on."""
    arrays = {f"model/{one.name}": values.to_numpy(one.value, copy=True) for one in values.tensors(model)}
    plain: dict[str, Any] = {"generator": framework.generator().bit_generator.state, "optimizers": []}
    for number, optimizer in enumerate(optimizers):
        for place, memory in enumerate(optimizer.memory):
            for slot, array in memory.items():
                arrays[f"optimizer/{number}/{place}/{slot}"] = array.copy()
        plain["optimizers"].append([dict(group.settings) for group in values.groups(optimizer)])
    return State(arrays, plain)


def restore(state: State, model: Any, optimizers: Sequence[Any] = ()) -> None:
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


def seed(seed: int, *, deterministic: bool = True) -> list[str]:
    """Fix the toy's randomness; nothing stays free."""
    framework.set_seed(seed)
    return []


def keeper() -> CapturingKeeper:
    return CapturingKeeper(capture, restore)


def circumstances() -> dict[str, Any]:
    """As RunInfo wants them."""
    return {
        "versions": {"numpy": np.__version__},
        "device": "cpu",
        "precision": "float32",
        "mode": "eager",
        "seeds": {},
        "flags": {},
    }


def rank() -> tuple[int, int] | None:
    """The toy knows one process only."""
    return None
