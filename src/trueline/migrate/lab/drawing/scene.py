"""What a recipe of inputs knows, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueline.kernel.array import Array
from trueline.migrate.lab.draw import DrawnValue


@dataclass(frozen=True, slots=True)
class Scene:
    """One draw of a class: ``given`` is what it is constructed with, ``build`` that and torch's defaults.

    ``axes`` is how many axes a window has, ``edge`` the condition that the draw is to meet, "" for ordinary inputs.
    """

    rng: np.random.Generator
    word: str
    given: Mapping[str, DrawnValue]
    build: Mapping[str, DrawnValue]
    axes: int
    edge: str = ""

    @property
    def batch(self) -> list[int]:
        """The leading axis of an input: none where it is not batched."""
        if self.edge == "unbatched":
            return []
        if self.edge == "empty":
            return [0]
        return [1] if self.edge in ("batch1", "one") else [int(self.rng.integers(2, 4))]

    def numbers(self, shape: Sequence[int], scale: float = 1.5) -> Array:
        """Numbers around zero with two decimals."""
        found = np.asarray(np.round(self.rng.normal(0.0, scale, tuple(shape)), 2), np.float32)
        # Many functions have a kink at zero, where each framework chooses a gradient of its own.
        return np.where(found == 0, np.float32(0.01), found)

    def shares(self, shape: Sequence[int]) -> Array:
        """Numbers between 0 and 1 with two decimals, neither end included."""
        return np.asarray(np.round(self.rng.uniform(0.05, 0.95, tuple(shape)), 2), np.float32)

    def whole(self, low: int, high: int, shape: Sequence[int]) -> Array:
        """Whole numbers of ``low`` to ``high``, the latter not included."""
        return self.rng.integers(low, high, tuple(shape)).astype(np.int64)

    def size(self, low: int, high: int) -> int:
        """A length of ``low`` to ``high``."""
        return int(self.rng.integers(low, high + 1))

    def happens(self, share: float) -> bool:
        """Whether something that happens in a share of all draws does in this one."""
        return bool(self.rng.random() < share)


@dataclass(frozen=True, slots=True)
class Fed:
    """What a recipe gives: inputs by name, the constructor's arguments where they are others, and ``more``."""

    values: Mapping[str, DrawnValue] = field(default_factory=dict)
    build: Mapping[str, DrawnValue] | None = None
    conditions: frozenset[str] = frozenset()
    more: Mapping[str, Any] = field(default_factory=dict)


Recipe = Callable[[Scene], Fed]


def per_axis(value: DrawnValue, axes: int) -> list[int]:
    """One number for each axis."""
    return list(value) if isinstance(value, list | tuple) else [value] * axes
