"""What is not finite, or beyond a limit, at the end of a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.adapters.nouns import Value
from trueline.adapters.protocol import Values
from trueline.model.summary import Summary
from trueline.record.tables import Parameters
from trueline.watch.seen import Part
from trueline.watch.state import Signs

_LARGEST: Final = 3.4e38
_MEASURED_WEIGHTS: Final = 8


@dataclass(frozen=True, slots=True)
class Looking:
    """Looks at norms first, and at tensors one by one where these are not as they should be."""

    values: Values
    parameters: Parameters
    summary: Callable[[Value], Summary | None]
    named: Callable[[Value], tuple[str, Part] | None]
    limit: float | None

    def signs(
        self,
        loss: object,
        norm: float,
        gradients: Sequence[tuple[Value, Value]],
        held: Sequence[object],
        outputs: Sequence[str],
    ) -> Signs:
        """Of a step's loss, the norm of its gradients, these themselves, its weights, and outputs already found."""
        found = Signs(outputs=list(outputs))
        found.loss = loss is not None and not math.isfinite(self.values.read(loss))
        # No norm is smaller than the largest of its numbers.
        if not norm <= self._most or not math.isfinite(norm):
            found.gradients = self._bad(gradients, certain=True)
        lost = bool(held) and not math.isfinite(self.values.read(self.values.total(held)))
        if self.limit is not None or lost:
            # What was not finite from the start is told where it is used.
            fresh = [(one, one) for one in held if not self._bad_from_the_start(one)]
            found.weights = self._bad(fresh, certain=lost and len(fresh) == len(held))
        return found

    @property
    def _most(self) -> float:
        return self.limit if self.limit is not None else math.inf

    def size(self, held: Sequence[object]) -> float:
        """How large weights are, by a few of them; a norm may be beyond all numbers although no weight is."""
        smallest = sorted(held, key=lambda one: math.prod(self.values.shape(one)))[:_MEASURED_WEIGHTS]
        size = self.values.read(self.values.norm(smallest)) if smallest else 0.0
        return _LARGEST if size == math.inf else size

    def _bad_from_the_start(self, parameter: object) -> bool:
        found = self.parameters.find(parameter)
        return found is not None and found.initial is not None and found.initial.non_finite > 0

    def _bad(self, pairs: Sequence[tuple[Value, Value]], *, certain: bool) -> list[str]:
        """The names of what is bad; where it is certain that something is, else of what cannot be read one by one."""
        names: list[str] = []
        unread: list[str] = []
        for parameter, tensor in pairs:
            summary = self.summary(tensor)
            bad = summary is not None and (summary.non_finite or max(-summary.minimum, summary.maximum) > self._most)
            if bad or summary is None:
                named = self.named(parameter)
                (names if bad else unread).append(named[0] if named is not None else "?")
        return names or (unread if certain else [])
