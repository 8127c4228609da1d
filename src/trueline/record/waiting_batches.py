"""Batches that were fetched and not yet seen in use: a loop may fetch ahead, or all of them before it begins."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Value
from trueline.record.open_step import OpenEvent

_MAX_WAITING: Final = 256  # batches; a loop that fetches and never trains would keep them all


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A batch's event, its tensors and its loader."""

    event: OpenEvent
    tensors: Sequence[Reference]
    loader: int

    def is_among(self, inputs: Sequence[Value]) -> bool:
        """Whether one of these tensors is the batch's."""
        mine = [reference() for reference in self.tensors]
        return any(tensor is given for tensor in mine if tensor is not None for given in inputs)


class WaitingBatches:
    """In the order in which they were fetched."""

    def __init__(self) -> None:
        self._batches: list[Waiting] = []

    def add(self, event: OpenEvent, tensors: Sequence[Value], loader: int) -> None:
        """A batch was fetched."""
        self._batches.append(Waiting(event, [reference(tensor) for tensor in tensors], loader))
        del self._batches[:-_MAX_WAITING]

    def used(self, inputs: Sequence[Value]) -> Waiting | None:
        """The batch that a network is called with, if its tensors are still the same ones."""
        for found in self._batches:
            if found.is_among(inputs):
                self._batches.remove(found)
                return found
        return None

    def has_of(self, loaders: Set[int]) -> bool:
        """Whether a batch of one of these loaders waits."""
        return any(batch.loader in loaders for batch in self._batches)

    def all(self) -> list[Waiting]:
        """All that wait, which then wait no more."""
        found, self._batches = self._batches, []
        return found

    @property
    def newest(self) -> OpenEvent | None:
        """The event of the batch that was fetched last, while it waits."""
        return self._batches[-1].event if self._batches else None

    def waits(self, event: OpenEvent) -> bool:
        """Whether the batch of this event still waits."""
        return any(batch.event is event for batch in self._batches)
