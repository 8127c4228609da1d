"""Batches that were fetched and not yet seen in use: a loop may fetch ahead, or all of them before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from trueline.adapters.identity import Reference, reference

_MOST = 256


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A batch's event, its tensors and its loader."""

    event: dict[str, Any]
    tensors: Sequence[Reference]
    loader: int

    def is_among(self, inputs: Sequence[Any]) -> bool:
        """Whether one of these tensors is the batch's."""
        mine = [reference() for reference in self.tensors]
        return any(one is other for one in mine if one is not None for other in inputs)


class WaitingBatches:
    """In the order in which they were fetched."""

    def __init__(self) -> None:
        self._batches: list[Waiting] = []

    def add(self, event: dict[str, Any], tensors: Sequence[Any], loader: int) -> None:
        """A batch was fetched."""
        self._batches.append(Waiting(event, [reference(one) for one in tensors], loader))
        del self._batches[:-_MOST]

    def used(self, inputs: Sequence[Any]) -> Waiting | None:
        """The batch that a network is called with, if its tensors are still the same ones."""
        for found in self._batches:
            if found.is_among(inputs):
                self._batches.remove(found)
                return found
        return None

    def has_of(self, loaders: Set[int]) -> bool:
        """Whether a batch of one of these loaders waits."""
        return any(one.loader in loaders for one in self._batches)

    def all(self) -> list[Waiting]:
        """All that wait, which then wait no more."""
        found, self._batches = self._batches, []
        return found

    @property
    def newest(self) -> dict[str, Any] | None:
        """The event of the batch that was fetched last, while it waits."""
        return self._batches[-1].event if self._batches else None

    def waits(self, event: Mapping[str, Any]) -> bool:
        """Whether the batch of this event still waits."""
        return any(one.event is event for one in self._batches)
