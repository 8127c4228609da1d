"""The generators of random numbers that all code shares: Python's, NumPy's, the framework's."""

from __future__ import annotations

import random
import zlib

import numpy as np

from trueline.adapters.protocol import Pipelines


class Chance:
    """Their states as numbers."""

    def __init__(self, own: Pipelines) -> None:
        self._own = own

    def stir(self) -> None:
        """Each goes on by a step, so that two samples never find the same state."""
        random.random()
        np.random.random()
        self._own.stir()

    def fix(self) -> None:
        """Each begins anew."""
        random.seed(0)
        np.random.seed(0)
        self._own.fix()

    def state(self) -> tuple[int, ...]:
        """The state of each."""
        state = np.random.get_state(legacy=False)["state"]
        found = (hash(random.getstate()), zlib.crc32(state["key"].tobytes(), int(state["pos"])))
        own = self._own.chance()
        return (*found, zlib.crc32(own)) if own else found
