"""A sampler's indexes: drawn ahead, matched with the batch they belong to."""

from __future__ import annotations

from collections import deque

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Loader, Value


class Indexes:
    """Indexes that each iterator has drawn and not yet delivered."""

    def __init__(self) -> None:
        self._waiting: ByIdentity[deque[object]] = ByIdentity()

    def asked(self, iterator: Loader, index: Value) -> None:
        """An iterator has drawn the indexes of a batch, or of a sample."""
        waiting = self._waiting.get(iterator)
        if waiting is None:
            self._waiting.set(iterator, waiting := deque())
        waiting.append(index)

    def forget(self, iterator: Loader) -> None:
        """An iterator starts over."""
        self._waiting.pop(iterator)

    def handed_out(self, iterator: Loader, *, in_order: bool) -> list[int] | None:
        """The indexes of the batch that is delivered now; None where they are unknown."""
        waiting = self._waiting.get(iterator)
        if not waiting or not in_order:
            return None
        asked = waiting.popleft()
        if isinstance(asked, int):
            return [asked]
        if isinstance(asked, list | tuple) and all(isinstance(index, int) for index in asked):
            return list(asked)
        return None
