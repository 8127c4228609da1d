"""The state of networks and optimizers in memory, through the adapter's own capture and restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trueline.adapters.nouns import Network, Optimizer, State, Stateful


class CapturingKeeper:
    """Keeps copies of captured states."""

    def __init__(self, capture: Callable[..., State], restore: Callable[..., None]) -> None:
        self._capture, self._restore = capture, restore
        self._holders: list[Stateful] = []
        self._state: State | None = None

    def take(self, networks: Sequence[Network], optimizers: Sequence[Optimizer]) -> None:
        """Replace the kept state by the current one."""
        kinds = (("network", networks), ("optimizer", optimizers))
        self._holders = [Stateful(kind, type(holder).__name__, holder) for kind, held in kinds for holder in held]
        state = self._capture(self._holders, gradients=True)
        self._state = State({name: array.copy() for name, array in state.arrays.items()}, state.plain, state.lost)

    def restore(self) -> None:
        """Restore the kept state in place."""
        if self._state is not None:
            self._restore(self._state, self._holders)

    @property
    def whole(self) -> bool:
        """Whether everything that the next step depends on is kept."""
        kinds = {holder.kind for holder in self._holders}
        return self._state is not None and kinds == {"network", "optimizer"} and not self._state.lost

    @property
    def bytes(self) -> int:
        """The memory in use."""
        return sum(array.nbytes for array in self._state.arrays.values()) if self._state is not None else 0
