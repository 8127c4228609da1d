"""The state of networks and optimizers kept in memory, by the adapter's own capture and restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trueline.adapters.nouns import State


class CapturingKeeper:
    """Keeps what ``capture`` gives; the optimizers go with the first network."""

    def __init__(self, capture: Callable[..., State], restore: Callable[..., None]) -> None:
        self._capture, self._restore = capture, restore
        self._states: list[tuple[Any, State]] = []
        self._optimizers: Sequence[Any] = ()

    def take(self, networks: Sequence[Any], optimizers: Sequence[Any]) -> None:
        """Keep the state as it is now, instead of what was kept before."""
        self._states.clear()
        self._optimizers = optimizers
        for place, network in enumerate(networks):
            self._states.append((network, self._capture(network, () if place else optimizers)))

    def restore(self) -> None:
        """Bring it back in place."""
        for place, (network, state) in enumerate(self._states):
            self._restore(state, network, () if place else self._optimizers)

    @property
    def whole(self) -> bool:
        """Whether nothing was left out that the next step depends on."""
        return bool(self._states) and bool(self._optimizers) and not any(state.lost for _, state in self._states)

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return sum(one.nbytes for _, state in self._states for one in state.arrays.values())
