"""A sampler's indexes: asked for ahead, handed out with their batch."""

from __future__ import annotations

from collections import deque

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Loader, Value


class Indexes:
    """What each iterator has asked for and not yet handed out."""

    def __init__(self) -> None:
        self._waiting: ByIdentity[deque[object]] = ByIdentity()

    def asked(self, iterator: Loader, index: Value) -> None:
        """An iterator asks its sampler for the next batch, or sample."""
        waiting = self._waiting.get(iterator)
        if waiting is None:
            self._waiting.set(iterator, waiting := deque())
        waiting.append(index)

    def forget(self, iterator: Loader) -> None:
        """An iterator begins anew."""
        self._waiting.pop(iterator)

    def handed_out(self, iterator: Loader, *, in_order: bool) -> list[int] | None:
        """The indexes of the batch that comes out now; None where they cannot be known."""
        waiting = self._waiting.get(iterator)
        if not waiting or not in_order:
            return None
        asked = waiting.popleft()
        if isinstance(asked, int):
            return [asked]
        if isinstance(asked, list | tuple) and all(isinstance(index, int) for index in asked):
            return list(asked)
        return None
