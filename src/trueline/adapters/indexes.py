"""A sampler's indexes: asked for ahead, handed out with their batch."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any


class Indexes:
    """What each iterator has asked for and not yet handed out."""

    def __init__(self) -> None:
        self._waiting: weakref.WeakKeyDictionary[Any, deque[Any]] = weakref.WeakKeyDictionary()

    def asked(self, iterator: Any, index: Any) -> None:
        """An iterator asks its sampler for the next batch, or sample."""
        self._waiting.setdefault(iterator, deque()).append(index)

    def forget(self, iterator: Any) -> None:
        """An iterator begins anew."""
        self._waiting.pop(iterator, None)

    def handed_out(self, iterator: Any, *, in_order: bool) -> list[int] | None:
        """The indexes of the batch that comes out now; None where they cannot be known."""
        waiting = self._waiting.get(iterator)
        if not waiting or not in_order:
            return None
        found = waiting.popleft()
        if isinstance(found, int):
            return [found]
        if isinstance(found, list | tuple) and all(isinstance(one, int) for one in found):
            return list(found)
        return None
