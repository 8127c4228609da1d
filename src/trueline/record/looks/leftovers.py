"""What becomes of gradients between backward and update: cleared in time, changed on the way; seen in themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Values

_UPDATES = 6
_SAMPLE = 3
_MOST_TRIED = 16


@dataclass(slots=True)
class _Watched:
    """A few parameters of an optimizer, and what was seen of their gradients since its last update."""

    parameters: list[Reference]
    cleared: bool = False
    backwards: int = 0
    norms: dict[int, float] = field(default_factory=dict)

    def alive(self) -> list[Any]:
        return [one for known in self.parameters if (one := known()) is not None]


class Leftovers:
    """Follows a few parameters of each optimizer from one update to the next.

    An optimizer's gradients were cleared when at the beginning of any backward since its last update theirs are gone:
    with two optimizers those of the one that waits its turn are cleared late.
    """

    def __init__(self, values: Values, updates: dict[int, int]) -> None:
        self._values = values
        self._watched: dict[int, _Watched] = {}
        self._updates = updates

    def backward_begins(self) -> None:
        """Look at what is left of the gradients before."""
        for watched in self._watched.values():
            watched.backwards += 1
            alive = watched.alive()
            watched.cleared = watched.cleared or not alive or not all(self._norm(one) for one in alive)

    def backward_ends(self) -> None:
        """Remember the gradients as backward has left them."""
        for watched in self._watched.values():
            watched.norms = {id(one): self._norm(one) for one in watched.alive()}

    def updating(self, optimizer: int, gradients: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
        """Whether this update takes gradients of the one before with it, and by what they were multiplied."""
        number = self._updates.get(optimizer, 0)
        self._updates[optimizer] = number + 1
        watched = self._watched.pop(optimizer, None)
        told: dict[str, Any] = {}
        if watched is not None and watched.backwards:
            told["uncleared"] = not watched.cleared
            told["backwards"] = watched.backwards
            factor = self._factor(watched)
            if factor is not None:
                told["factor"] = factor
        if number < _UPDATES:
            chosen = [reference(one) for one, _ in gradients[:_MOST_TRIED] if self._norm(one)][:_SAMPLE]
            if chosen:
                self._watched[optimizer] = _Watched(chosen)
        return told

    def _factor(self, watched: _Watched) -> float | None:
        """By what gradients were multiplied between backward and update, where it is the same for all."""
        pairs = [(self._norm(one), watched.norms.get(id(one), 0.0)) for one in watched.alive()]
        ratios = [now / before for now, before in pairs if before]
        if not ratios or not np.allclose(ratios, ratios[0], rtol=1e-3):
            return None
        return float(ratios[0])

    def _norm(self, parameter: Any) -> float:
        gradient = self._values.gradient(parameter)
        if gradient is None:
            return 0.0
        try:
            found = float(np.linalg.norm(self._values.to_numpy(gradient).astype(np.float64).reshape(-1)))
        except Unreadable:
            return 0.0
        return found if np.isfinite(found) else 0.0
