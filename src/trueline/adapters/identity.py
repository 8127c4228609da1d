"""What is known of a user's object, by the object itself.

A user's class may hash and compare as it likes: torchmetrics' metrics have no hash before they are built whole, tensors
compare element by element. Neither is ever asked here, and nothing is stored on the object or keeps it alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from trueline.adapters.nouns import Foreign

Known = TypeVar("Known")
Reference = Callable[[], Foreign]


def reference(target: object) -> Reference:
    """A weak reference to the object; a strong one where the type does not support weak references."""
    try:
        return weakref.ref(target)
    except TypeError:
        return lambda: target


class ByIdentity(Generic[Known]):
    """A mapping keyed by object identity, in insertion order; entries of dead objects disappear."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Reference, Known]] = {}

    def get(self, target: object) -> Known | None:
        """The value stored for an object, or None."""
        entry = self._known.get(id(target))
        # An address is used again after its object is gone.
        return entry[1] if entry is not None and entry[0]() is target else None

    def set(self, target: object, known: Known) -> None:
        """Store a value for an object."""
        there = self._known.get(id(target))
        if there is not None and there[0]() is target:
            self._known[id(target)] = (there[0], known)
            return
        self._known.pop(id(target), None)
        self._known[id(target)] = (self._reference(target), known)

    def _reference(self, target: object) -> Reference:
        address, known = id(target), self._known

        def forget(gone: object) -> None:
            there = known.get(address)
            if there is not None and there[0] is gone:
                known.pop(address, None)

        try:
            return weakref.ref(target, forget)
        except TypeError:
            return reference(target)

    def pop(self, target: object) -> Known | None:
        """Remove and return the value stored for an object."""
        if target not in self:
            return None
        return self._known.pop(id(target))[1]

    def __contains__(self, target: object) -> bool:
        entry = self._known.get(id(target))
        return entry is not None and entry[0]() is target

    def __iter__(self) -> Iterator[Foreign]:
        """The objects that are alive."""
        # Copied in one go: an object may go, and be forgotten, at any moment.
        return (target for known, _ in self._known.copy().values() if (target := known()) is not None)


def walk(root: Foreign, below: Callable[[Foreign], Mapping[str, Foreign]]) -> Iterator[tuple[str, Foreign]]:
    """(path, object) pairs of a tree in definition order, from the root ("") down, each object once."""
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        waiting.extend(
            (f"{path}.{name}" if path else str(name), child) for name, child in reversed([*below(node).items()])
        )
