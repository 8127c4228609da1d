"""What perturbing a run is in every framework: factors of rounding units, drawn apart from its own randomness."""

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
    """Signs -1, 0 and 1 in any number, and the count of what was moved by them."""

    def __init__(self, seed: int, ulps: int = 1) -> None:
        self._ulps = ulps
        self._random = np.random.default_rng(seed)
        self._pool = self._random.integers(-1, 2, _POOL_SIZE, dtype=np.int8)
        self.inputs = 0
        self.layers = 0

    def size(self, unit: float) -> float:
        """How far a sign moves a number of this rounding unit; coarse ones are never moved by more than one."""
        return max(unit, min(self._ulps * unit, _MAX_RELATIVE_MOVE))

    def counts(self, kernels: Sequence[str] = ()) -> dict[str, Json]:
        """What an adapter tells of its perturbation."""
        return {"inputs": self.inputs, "layers": self.layers, "kernels": list(kernels)}

    def signs(self, count: int) -> npt.NDArray[np.int8]:
        """As many signs as asked for."""
        start = int(self._random.integers(_POOL_SIZE))
        if start + count <= _POOL_SIZE:
            return self._pool[start : start + count]
        return np.resize(np.roll(self._pool, -start), count)


class Calls:
    """The calls that are going on, told apart: outermost ones, and ones that call no other."""

    def __init__(self) -> None:
        self._open: list[tuple[Network, int]] = []
        self._count = 0

    @property
    def going_on(self) -> bool:
        """Whether a call has begun and not ended."""
        return bool(self._open)

    def begins(self, module: Network) -> bool:
        """A call begins: whether it is an outermost one."""
        outermost = not self._open
        self._count += 1
        self._open.append((module, self._count))
        return outermost

    def ends(self, module: Network) -> bool:
        """A call ends, and with it those inside that were never told to: whether it called no other."""
        while self._open:
            begun, count = self._open.pop()
            if begun is module:
                return count == self._count
        return False


class Perturbing(ABC):
    """What was put in place to perturb a run, and what it has moved so far."""

    def __init__(self, seed: int, ulps: int) -> None:
        self.switch = Switch()
        self.patches = Patches()
        self.hooks: Installed | None = None
        self.kernels: list[str] = []
        self.draws = Draws(seed, ulps)

    def remove(self) -> None:
        """Put everything back."""
        self.switch.on = False
        if self.hooks is not None:
            self.hooks.remove()
        self.patches.remove()

    def counts(self) -> dict[str, Json]:
        """What was moved."""
        return self.draws.counts(self.kernels)

    def input(self, value: Value) -> Value:
        """The same with every floating tensor in it moved."""
        return moved_in(value, self._moved_input)

    def output(self, value: Value) -> Value:
        """The same with every floating tensor in it moved."""
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
        """A floating tensor times factors near one; anything else as it is."""


def moved_in(value: Value, move: Callable[[Value], Value], depth: int = 0) -> Value:
    """The same structure with ``move`` applied to what it holds; only plain tuples, lists and dicts are looked into."""
    if depth > _MAX_DEPTH:
        return value
    if type(value) in (tuple, list):
        return type(value)(moved_in(part, move, depth + 1) for part in value)
    if type(value) is dict:
        return {name: moved_in(part, move, depth + 1) for name, part in value.items()}
    return move(value)
