"""Whether gradients were cleared between two updates, seen in the gradients themselves."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Values

_UPDATES = 6
_SAMPLE = 3
_MOST_TRIED = 16


class Leftovers:
    """Follows a few parameters of each optimizer from one update to the next.

    An optimizer's gradients were cleared when at the beginning of any backward since its last update theirs are gone:
    with two optimizers those of the one that waits its turn are cleared late.
    """

    def __init__(self, values: Values) -> None:
        self._values = values
        self._watched: dict[int, list[weakref.ReferenceType[Any]]] = {}
        self._backwards: dict[int, int] = {}
        self._updates: dict[int, int] = {}

    def backward_begins(self) -> None:
        """Look at what is left of the gradients before."""
        for optimizer in list(self._watched):
            alive = [one for watched in self._watched[optimizer] if (one := watched()) is not None]
            if alive and all(self._there(one) for one in alive):
                self._backwards[optimizer] += 1
            else:
                del self._watched[optimizer]

    def updating(self, optimizer: int, gradients: Sequence[tuple[Any, Any]]) -> bool | None:
        """Whether this update takes gradients of the one before with it; None where nobody knows."""
        number = self._updates.get(optimizer, 0)
        self._updates[optimizer] = number + 1
        if number > _UPDATES:
            return None
        left = optimizer in self._watched and self._backwards[optimizer] > 0
        watched = [weakref.ref(one) for one, _ in gradients[:_MOST_TRIED] if self._there(one)][:_SAMPLE]
        self._watched.pop(optimizer, None)
        if watched and number < _UPDATES:
            self._watched[optimizer] = watched
            self._backwards[optimizer] = 0
        return left if number else None

    def _there(self, parameter: Any) -> bool:
        gradient = self._values.gradient(parameter)
        if gradient is None:
            return False
        try:
            return bool(self._values.to_numpy(gradient).any())
        except Unreadable:
            return False
