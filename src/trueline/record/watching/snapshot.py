"""The state before a step, kept in memory so that the step can be done again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.adapters.plain import plain_values
from trueline.adapters.protocol import Adapter

# A state that is larger is kept before every so many steps only, and all steps since are done again.
_LARGE: Final = 16 << 20
_PERIOD: Final = 4


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a loader has handed out."""

    loader: Any
    batch: Any
    indexes: Sequence[int] | None


class Snapshot:
    """Networks, optimizers, schedules and random generators of one framework, and the batches that came since."""

    def __init__(self, adapter: Adapter) -> None:
        self.fetched: list[Fetched] = []
        self._steps = 0
        self._kept = adapter.state.keeper()
        self._python: Any = None
        self._numpy: Any = None
        self._schedules: list[tuple[Any, dict[str, Any]]] = []

    @property
    def is_due(self) -> bool:
        """Whether the state is to be kept anew before the next step."""
        return not self.whole or self.bytes <= _LARGE or self._steps >= _PERIOD

    def take(self, networks: Sequence[Any], optimizers: Sequence[Any], schedules: Sequence[Any]) -> None:
        """As everything is now, instead of what was kept before."""
        self.fetched, self._steps = [], 0
        self._kept.take(networks, optimizers)
        self._python, self._numpy = random.getstate(), np.random.get_state()
        self._schedules = [(one, plain_values(one)) for one in schedules]

    def stepped(self) -> None:
        """A step was made since."""
        self._steps += 1

    @property
    def whole(self) -> bool:
        """Whether nothing was left out that the step depends on."""
        return self._python is not None and self._kept.whole

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return self._kept.bytes

    def restore(self) -> None:
        """Bring everything back in place."""
        self._kept.restore()
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        for one, plain in self._schedules:
            vars(one).update(plain)
