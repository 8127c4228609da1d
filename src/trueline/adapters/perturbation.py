"""Perturbation of a run in any framework: factors of a few ulps, drawn from a generator of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.adapters.nouns import Network, Value
from trueline.adapters.patching import Patches, Switch
from trueline.adapters.protocol import Installed
from trueline.model.json_value import Json

# Bounds a value that holds itself.
_MAX_DEPTH: Final = 8
# A prime, so that drawing again from the same pool does not fall in step with any tensor's sides.
_POOL_SIZE: Final = 1_048_573
# Still far below what a network tells apart.
_MAX_RELATIVE_MOVE: Final = 1.25e-4


class Draws:
    """Random signs -1, 0 and 1, and counts of what was perturbed."""

    def __init__(self, seed: int, ulps: int = 1) -> None:
        self._ulps = ulps
        self._random = np.random.default_rng(seed)
        self._pool = self._random.integers(-1, 2, _POOL_SIZE, dtype=np.int8)
        self.inputs = 0
        self.layers = 0

    def size(self, unit: float) -> float:
        """The relative size of a perturbation for this machine epsilon; coarse types move by one unit at most."""
        return max(unit, min(self._ulps * unit, _MAX_RELATIVE_MOVE))

    def counts(self, kernels: Sequence[str] = ()) -> dict[str, Json]:
        """Counts of perturbed inputs and layers, and the alternative kernels in use."""
        return {"inputs": self.inputs, "layers": self.layers, "kernels": list(kernels)}

    def signs(self, count: int) -> npt.NDArray[np.int8]:
        """The given number of random signs."""
        start = int(self._random.integers(_POOL_SIZE))
        if start + count <= _POOL_SIZE:
            return self._pool[start : start + count]
        return np.resize(np.roll(self._pool, -start), count)


class Calls:
    """The stack of calls in progress: identifies outermost calls and leaf calls."""

    def __init__(self) -> None:
        self._open: list[tuple[Network, int]] = []
        self._count = 0

    @property
    def going_on(self) -> bool:
        """Whether a call is in progress."""
        return bool(self._open)

    def begins(self, module: Network) -> bool:
        """A call begins; returns whether it is an outermost one."""
        outermost = not self._open
        self._count += 1
        self._open.append((module, self._count))
        return outermost

    def ends(self, module: Network) -> bool:
        """A call ends, and with it nested calls that were never closed; returns whether it was a leaf."""
        while self._open:
            begun, count = self._open.pop()
            if begun is module:
                return count == self._count
        return False


class Perturbing(ABC):
    """An installed perturbation, and counts of what it has perturbed."""

    def __init__(self, seed: int, ulps: int) -> None:
        self.switch = Switch()
        self.patches = Patches()
        self.hooks: Installed | None = None
        self.kernels: list[str] = []
        self.draws = Draws(seed, ulps)

    def remove(self) -> None:
        """Remove hooks and patches."""
        self.switch.on = False
        if self.hooks is not None:
            self.hooks.remove()
        self.patches.remove()

    def counts(self) -> dict[str, Json]:
        """Counts of what was perturbed."""
        return self.draws.counts(self.kernels)

    def input(self, value: Value) -> Value:
        """The value with every floating tensor in it perturbed."""
        return moved_in(value, self._moved_input)

    def output(self, value: Value) -> Value:
        """The value with every floating tensor in it perturbed."""
        return moved_in(value, self._moved_output)

    def _moved_input(self, value: Value) -> Value:
        moved = self.moved(value)
        self.draws.inputs += moved is not value
        return moved

    def _moved_output(self, value: Value) -> Value:
        moved = self.moved(value)
        self.draws.layers += moved is not value
        return moved

    @abstractmethod
    def moved(self, value: Value) -> Value:
        """A floating tensor multiplied by factors near one; anything else unchanged."""


def moved_in(value: Value, move: Callable[[Value], Value], depth: int = 0) -> Value:
    """The same structure with ``move`` applied to its leaves; only plain tuples, lists and dicts are traversed."""
    if depth > _MAX_DEPTH:
        return value
    if type(value) in (tuple, list):
        return type(value)(moved_in(part, move, depth + 1) for part in value)
    if type(value) is dict:
        return {name: moved_in(part, move, depth + 1) for name, part in value.items()}
    return move(value)
