"""The state before a step, kept in memory so that the step can be done again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueline.adapters.protocol import Adapter


class Snapshot:
    """Networks, optimizers and random generators of one framework, and the batch that the step was handed."""

    def __init__(self, adapter: Adapter) -> None:
        self.loader: Any = None
        self.batch: Any = None
        self.indexes: Sequence[int] | None = None
        self._kept = adapter.state.keeper()
        self._python: Any = None
        self._numpy: Any = None

    def take(
        self, networks: Sequence[Any], optimizers: Sequence[Any], handed: tuple[Any, Any, Sequence[int] | None]
    ) -> None:
        """As everything is now, instead of what was kept before."""
        self.loader, self.batch, self.indexes = handed
        self._kept.take(networks, optimizers)
        self._python, self._numpy = random.getstate(), np.random.get_state()

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
