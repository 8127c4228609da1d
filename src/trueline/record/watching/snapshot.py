"""The state before a step, kept in memory so that the step can be done again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueline.adapters.protocol import Adapter, State


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Networks, optimizers and random generators of one framework, and the batch that the step was handed."""

    adapter: Adapter
    loader: Any
    batch: Any
    indexes: Sequence[int] | None
    states: Sequence[tuple[Any, State]]
    optimizers: Sequence[Any]
    python: Any = field(default_factory=random.getstate)
    numpy: Any = field(default_factory=np.random.get_state)

    @classmethod
    def take(
        cls,
        adapter: Adapter,
        networks: Sequence[Any],
        optimizers: Sequence[Any],
        handed: tuple[Any, Any, Sequence[int] | None],
    ) -> Snapshot:
        """As everything is now; the optimizers go with the first network."""
        states = [
            (network, adapter.state.capture(network, optimizers if not place else ()))
            for place, network in enumerate(networks)
        ]
        return cls(adapter, *handed, states, list(optimizers))

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return sum(one.nbytes for _, state in self.states for one in state.arrays.values())

    @property
    def whole(self) -> bool:
        """Whether nothing was left out that the step depends on."""
        return bool(self.states) and bool(self.optimizers) and not any(state.lost for _, state in self.states)

    def restore(self) -> None:
        """Bring everything back in place."""
        for place, (network, state) in enumerate(self.states):
            self.adapter.state.restore(state, network, self.optimizers if not place else ())
        random.setstate(self.python)
        np.random.set_state(self.numpy)
