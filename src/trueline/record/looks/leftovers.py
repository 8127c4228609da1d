"""What becomes of gradients between backward and update: cleared in time, changed on the way; seen in themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.model.json_value import Json

# What is done to gradients in the first updates is done in all of them.
_FOLLOWED_UPDATES: Final = 6
_FOLLOWED_PARAMETERS: Final = 3
# So many are asked for a gradient that is not zero.
_MAX_TRIED: Final = 16


@dataclass(slots=True)
class _Watched:
    """A few parameters of an optimizer, and what was seen of their gradients since its last update."""

    parameters: list[Reference]
    cleared: bool = False
    backwards: int = 0
    waiting: bool = False
    mixed: bool = False
    norms: dict[int, float] = field(default_factory=dict)
    # The gradients that the last update used: others in their place were put there, and nothing was added to them.
    used: list[Reference] = field(default_factory=list)

    def alive(self) -> list[Value]:
        return [parameter for known in self.parameters if (parameter := known()) is not None]


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
            left = any(self._norm(parameter) for parameter in watched.alive())
            watched.mixed = left and (watched.mixed or watched.waiting)
            watched.waiting = False
            watched.backwards += 1
            alive = watched.alive()
            watched.cleared = watched.cleared or not alive or not all(self._norm(parameter) for parameter in alive)

    def backward_ends(self) -> None:
        """Remember the gradients as backward has left them."""
        for watched in self._watched.values():
            watched.norms = {id(parameter): self._norm(parameter) for parameter in watched.alive()}

    def updating(self, optimizer: int, gradients: Sequence[tuple[Value, Value]]) -> dict[str, Json]:
        """Whether this update takes gradients of the one before with it, and by what they were multiplied."""
        number = self._updates.get(optimizer, 0)
        self._updates[optimizer] = number + 1
        watched = self._watched.pop(optimizer, None)
        for other in self._watched.values():
            # What is there now another optimizer has updated by: it is not to go into what this one updates by next.
            other.waiting = True
        told: dict[str, Json] = {}
        if watched is not None and watched.backwards:
            told["uncleared"] = not watched.cleared and not self._is_replaced(watched)
            told["backwards"] = watched.backwards
            told["mixed"] = watched.mixed
            factor = self._factor(watched)
            if factor is not None:
                told["factor"] = factor
        if number < _FOLLOWED_UPDATES:
            chosen = [reference(parameter) for parameter, _ in gradients[:_MAX_TRIED] if self._norm(parameter)][
                :_FOLLOWED_PARAMETERS
            ]
            if chosen:
                alive = [parameter for known in chosen if (parameter := known()) is not None]
                used = [reference(self._values.gradient(parameter)) for parameter in alive]
                self._watched[optimizer] = _Watched(chosen, used=used)
        return told

    def _is_replaced(self, watched: _Watched) -> bool:
        """Whether the script has put other gradients where those of the last update were."""
        used = [gradient for known in watched.used if (gradient := known()) is not None]
        return not any(
            self._values.gradient(parameter) is gradient for parameter in watched.alive() for gradient in used
        )

    def _factor(self, watched: _Watched) -> float | None:
        """By what gradients were multiplied between backward and update, where it is the same for all."""
        pairs = [(self._norm(parameter), watched.norms.get(id(parameter), 0.0)) for parameter in watched.alive()]
        ratios = [now / before for now, before in pairs if before]
        if not ratios or not np.allclose(ratios, ratios[0], rtol=1e-3):
            return None
        return float(ratios[0])

    def _norm(self, parameter: Value) -> float:
        gradient = self._values.gradient(parameter)
        if gradient is None:
            return 0.0
        try:
            found = float(np.linalg.norm(self._values.to_numpy(gradient).astype(np.float64).reshape(-1)))
        except Unreadable:
            return 0.0
        return found if np.isfinite(found) else 0.0
